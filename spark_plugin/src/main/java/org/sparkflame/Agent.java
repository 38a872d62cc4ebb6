package org.sparkflame;

/** What libsparkflame.so offers to Java; NativeLibrary loads it. */
public final class Agent {
    private static final InheritableThreadLocal<String> TASK = new InheritableThreadLocal<>();

    private Agent() {
    }

    /** Like setTag(), but also for threads that the calling one starts for the task, such as those that feed Python. */
    public static void setTaskTag(String tag) {
        if (tag == null) {
            TASK.remove();
        } else {
            TASK.set(tag);
        }
        setTag(tag);
    }

    /** The agent asks on such a thread as it begins. */
    static String inheritedTag() {
        return TASK.get();
    }

    /** What the calling thread works on from now on, as "stage=3;task=41"; null ends it. */
    public static native void setTag(String tag);

    /** Samples whose tag begins with the label, as "stage=3", have these labels, too: "job=1;group=nightly". */
    public static native void describe(String label, String labels);

    /**
     * Runs one argument string of the agent.
     *
     * @throws IllegalArgumentException the string is wrong
     * @throws IllegalStateException it cannot be done here
     */
    public static native String execute(String command) throws java.io.IOException;
}
