package one.profiler;

/** The native methods called by programs that use async-profiler's library. */
public class Recording {
    static volatile int state = register();

    private static int register() {
        try {
            return registerNatives();
        } catch (UnsatisfiedLinkError missing) {
            return 0;
        }
    }

    public static long begin() {
        return state == 2 ? System.nanoTime() : 0;
    }

    public static void end(long begin, String tag) {
        if (begin != 0 && state == 2)
            emitSpan(begin, System.nanoTime(), tag);
    }

    private static native int registerNatives();

    static native void emitSpan(long begin, long end, String tag);
}
