import java.security.MessageDigest;
import java.util.function.LongUnaryOperator;

/** Spends CPU time in known places and prints, per place, the thread's own CPU nanoseconds. */
public class Shares {
    static volatile long sink;
    static final byte[] block = new byte[1 << 16];
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

    public static void main(String[] args) throws Exception {
        long budget = Long.parseLong(args[0]) * 1_000_000;
        String[] names = {"partDeep", "partInlined", "partLambda", "partCopy", "partDigest"};
        Part[] parts = {Shares::partDeep, Shares::partInlined, Shares::partLambda, Shares::partCopy, Shares::partDigest};
        int[] weight = {4, 3, 2, 2, 1};
        var clock = java.lang.management.ManagementFactory.getThreadMXBean();
        long[] spent = new long[parts.length];
        long total = 0, seed = 1;
        while (total < budget) {
            for (int i = 0; i < parts.length; i++) {
                long begin = clock.getCurrentThreadCpuTime();
                long end = begin + weight[i] * 2_000_000L;
                long now = begin;
                while (now < end) {
                    for (int k = 0; k < 8; k++) {
                        seed = parts[i].run(seed);
                    }
                    now = clock.getCurrentThreadCpuTime();
                }
                spent[i] += now - begin;
                total += now - begin;
            }
        }
        sink = seed;
        for (int i = 0; i < parts.length; i++) {
            System.out.println(names[i] + " " + spent[i]);
        }
        System.out.println("total " + total);
    }
}
