import java.lang.management.ThreadMXBean;
import java.security.MessageDigest;
import java.util.function.LongSupplier;
import java.util.function.LongUnaryOperator;
import java.util.zip.Deflater;

/** Spends CPU time in known methods and prints the thread's CPU nanoseconds in each. */
public class Shares {
    static volatile long sink;
    static final byte[] block = new byte[1 << 16], packed = new byte[1 << 17];
    static final int[] from = new int[1 << 16], to = new int[1 << 16];

    static long deep(int levels, long seed) {
        if (levels == 0) {
            return leafOfDeep(seed);
        }
        return deep(levels - 1, seed + 1) + 1;
    }

    static long leafOfDeep(long seed) {
        long sum = seed;
        for (int i = 0; i < 20_000; i++) {
            sum = sum * 31 + (sum >>> 7);
        }
        return sum;
    }

    static int small(int x) {
        return x * 17 + (x >>> 3);
    }

    static long inlined(long seed) {
        int sum = (int) seed;
        for (int i = 0; i < 20_000; i++) {
            sum += small(sum + i);
        }
        return sum;
    }

    static long lambda(long seed, LongUnaryOperator operator) {
        long sum = seed;
        for (int i = 0; i < 20_000; i++) {
            sum = operator.applyAsLong(sum);
        }
        return sum;
    }

    static long copy(long seed) {
        for (int i = 0; i < 4; i++) {
            System.arraycopy(from, 0, to, 0, from.length);
        }
        return seed + to[(int) (seed & 0xffff)];
    }

    static long digest(long seed) throws Exception {
        MessageDigest sha = MessageDigest.getInstance("SHA-256");
        sha.update(block);
        return sha.digest()[0] + seed;
    }

    interface Part {
        long run(long seed) throws Exception;
    }

    static long partDeep(long seed) { return deep(60, seed); }
    static long partInlined(long seed) { return inlined(seed); }
    static long partLambda(long seed) { return lambda(seed, x -> x * 7 + (x >>> 5)); }
    static long partCopy(long seed) { return copy(seed); }
    static long partDigest(long seed) throws Exception { return digest(seed); }

    /** Compresses in C, called through JNI. */
    static long partNative(long seed) {
        Deflater deflater = new Deflater(1);
        deflater.setInput(block);
        deflater.finish();
        long size = deflater.deflate(packed);
        deflater.end();
        return seed + size;
    }

    static long work(long budget, LongSupplier clock) throws Exception {
        String[] names = {"partDeep", "partInlined", "partLambda", "partCopy", "partDigest", "partNative"};
        Part[] parts = {Shares::partDeep, Shares::partInlined, Shares::partLambda, Shares::partCopy, Shares::partDigest,
                        Shares::partNative};
        int[] weight = {4, 3, 2, 2, 1, 2};
        long[] spent = new long[parts.length];
        long total = 0, seed = 1;
        while (total < budget) {
            for (int i = 0; i < parts.length; i++) {
                long begin = clock.getAsLong();
                long end = begin + weight[i] * 2_000_000L;
                long now = begin;
                while (now < end) {
                    for (int k = 0; k < 8; k++) {
                        seed = parts[i].run(seed);
                    }
                    now = clock.getAsLong();
                }
                spent[i] += now - begin;
                total += now - begin;
            }
            Thread.yield();
        }
        sink = seed;
        for (int i = 0; i < parts.length; i++) {
            System.out.println(names[i] + " " + spent[i]);
        }
        System.out.println("total " + total);
        return clock.getAsLong();
    }

    /** The CPU clock of a virtual thread is its carrier's: there must be only one. */
    static long carrier(ThreadMXBean bean) {
        for (var info : bean.getThreadInfo(bean.getAllThreadIds())) {
            if (info != null && info.getThreadName().startsWith("ForkJoinPool-1-worker")) {
                return info.getThreadId();
            }
        }
        throw new IllegalStateException("no carrier");
    }

    static void report(long budget, boolean virtual) {
        ThreadMXBean bean = java.lang.management.ManagementFactory.getThreadMXBean();
        long id = virtual ? carrier(bean) : 0;
        try {
            long cpu = work(budget, virtual ? () -> bean.getThreadCpuTime(id) : bean::getCurrentThreadCpuTime);
            System.out.println("thread " + cpu);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    /** Arguments: milliseconds of CPU time, and "thread" or "virtual" for a separate thread. */
    public static void main(String[] args) throws Exception {
        long budget = Long.parseLong(args[0]) * 1_000_000;
        if (args.length == 1) {
            report(budget, false);
        } else if (args[1].equals("thread")) {
            Thread thread = new Thread(() -> report(budget, false), "worker");
            thread.start();
            thread.join();
        } else {
            Runnable body = () -> report(budget, true);
            ((Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, body)).join();
        }
    }
}
