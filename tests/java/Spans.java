/** Marks two spans with the class of async-profiler's Java library, then makes system calls for a while. */
public class Spans {
    public static void main(String[] arguments) throws Exception {
        long end = System.nanoTime() + Long.parseLong(arguments[0]) * 1_000_000;
        while (System.nanoTime() < end) {
            long span = one.profiler.Recording.begin();
            for (int i = 0; i < 200; i++)
                new java.io.File("/proc/self/task").list();
            one.profiler.Recording.end(span, "listing");
        }
    }
}
