import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;

/**
 * Something to record: threads that descend through chains of calls, allocate, lock and park at their ends. As in a
 * real job, the outer part of a stack is one of some hundred plans, and its inner part differs each time.
 * Usage: java Busy SECONDS THREADS
 */
public class Busy {
    private static final int PLANS = 400;
    private static final int SHALLOWEST = 15;
    private static final int DEEPEST = 40;
    private static final int FREE_STEPS = 7;
    private static final Object[] LOCKS = {new Object(), new StringBuilder(), new int[0]};
    static volatile Object sink;

    /** A step of a chain: what a stage of a query is to a profiler, a frame. */
    interface Step {
        long go(int left, ThreadLocalRandom random);
    }

    private static final Step[] STEPS = {
        Busy::scan, Busy::filter, Busy::project, Busy::hash, Busy::sort, Busy::merge, Busy::spill, Busy::decode,
        (left, random) -> next(left, random) + 1, (left, random) -> next(left, random) * 3,
        new Step() {
            @Override
            public long go(int left, ThreadLocalRandom random) {
                return next(left, random) ^ 5;
            }
        },
    };

    /** left: the number of the plan times 64, and how many steps are left. */
    static long next(int left, ThreadLocalRandom random) {
        if (left % 64 == 0) {
            return end(random);
        }
        boolean free = left % 64 <= FREE_STEPS;
        int choice = free ? random.nextInt(STEPS.length) : Math.floorMod(left * 0x9E3779B9 >> 7, STEPS.length);
        return STEPS[choice].go(left - 1, random);
    }

    static long scan(int left, ThreadLocalRandom random) {
        return next(left, random) + left;
    }

    static long filter(int left, ThreadLocalRandom random) {
        return left % 8 == 0 ? scan(left, random) : next(left, random);
    }

    static long project(int left, ThreadLocalRandom random) {
        long result = next(left, random);
        return result % 7 == 0 ? result + 1 : result;
    }

    static long hash(int left, ThreadLocalRandom random) {
        return next(left, random) * 31 + left;
    }

    static long sort(int left, ThreadLocalRandom random) {
        return Long.rotateLeft(next(left, random), 3);
    }

    static long merge(int left, ThreadLocalRandom random) {
        return left % 4 == 0 ? hash(left, random) : next(left, random);
    }

    static long spill(int left, ThreadLocalRandom random) {
        return next(left, random) - 1;
    }

    static long decode(int left, ThreadLocalRandom random) {
        return next(left, random) >>> 1;
    }

    static long end(ThreadLocalRandom random) {
        switch (random.nextInt(16)) {
            case 0:
                return work(random.nextInt(2000));
            case 1:
                synchronized (LOCKS[random.nextInt(LOCKS.length)]) {
                    return work(300);
                }
            case 2:
                if (random.nextInt(64) == 0) {
                    LockSupport.parkNanos(200_000);
                }
                return 1;
            case 3:
                sink = new String[random.nextInt(4000)];
                return 2;
            case 4:
                sink = new StringBuilder(random.nextInt(8000));
                return 3;
            case 5:
                sink = new long[random.nextInt(100) == 0 ? 40_000 : 800][];
                return 4;
            default:
                sink = new byte[random.nextInt(4096)];
                return 5;
        }
    }

    static long work(int rounds) {
        long result = rounds;
        for (int i = 0; i < rounds; i++) {
            result = result * 6364136223846793005L + i;
        }
        return result;
    }

    static void run(long end) {
        long result = 0;
        while (System.nanoTime() < end) {
            ThreadLocalRandom random = ThreadLocalRandom.current();
            int plan = random.nextInt(PLANS);
            result += next(plan * 64 + SHALLOWEST + plan % (DEEPEST - SHALLOWEST), random);
        }
        sink = result;
    }

    public static void main(String[] arguments) throws InterruptedException {
        long end = System.nanoTime() + Long.parseLong(arguments[0]) * 1_000_000_000L;
        Thread[] threads = new Thread[Integer.parseInt(arguments[1])];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(() -> run(end), "Executor task launch worker for task " + i + ".0 in stage 1.0");
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }
}
