package org.sparkflame;

/** What the library offers to Java. */
public final class Agent {
    private Agent() {
    }

    public static native void setTag(String tag);

    public static native String execute(String command);
}
