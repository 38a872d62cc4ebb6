package org.sparkflame;

/** The library's interface for Java. */
public final class Agent {
    private Agent() {
    }

    public static native void setTag(String tag);

    public static native String execute(String command);
}
