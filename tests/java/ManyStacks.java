import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/**
 * Runs on ever new stacks, like a JVM that runs for weeks: a path of calls through two methods, each path different.
 * Then, for the last seconds, in one method. Arguments: milliseconds of CPU time of each part, and the number of
 * threads. Prints the number of paths, and the CPU time of both parts and of the process.
 */
public final class ManyStacks {
    static final int DEPTH = 24;
    static volatile long sink;
    static volatile Object made;

    static long left(long path, int depth, int work) {
        return depth == 0 ? work(path, work) : next(path, depth, work) + 1;
    }

    static long right(long path, int depth, int work) {
        return depth == 0 ? work(path, work) : next(path, depth, work) + 2;
    }

    static long next(long path, int depth, int work) {
        return (path & 1) == 0 ? left(path >>> 1, depth - 1, work) : right(path >>> 1, depth - 1, work);
    }

    static long work(long path, int work) {
        long sum = path;
        made = new Object(); // an allocation sample of each path, if recorded
        for (int i = 0; i < work; i++)
            sum = sum * 31 + i;
        return sum;
    }

    static long hot(long begin, int work) {
        long sum = begin;
        for (int i = 0; i < work; i++)
            sum = sum * 33 + i;
        return sum;
    }

    static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    static long cpu() {
        return THREADS.getCurrentThreadCpuTime();
    }

    static final class Worker extends Thread {
        final long manyNs, hotNs, first;
        long paths, manyCpu, hotCpu;

        Worker(long manyNs, long hotNs, long first) {
            this.manyNs = manyNs;
            this.hotNs = hotNs;
            this.first = first;
        }

        @Override
        public void run() {
            long begin = cpu(), now = begin;
            while (now - begin < manyNs) {
                for (int i = 0; i < 64; i++) {
                    long path = (first + paths++) * 0x9E3779B97F4A7C15L >>> (64 - DEPTH);
                    sink += next(path, DEPTH, 400);
                }
                now = cpu();
            }
            manyCpu = now - begin;
            begin = now;
            while (now - begin < hotNs) {
                sink += hot(now, 5000000);
                now = cpu();
            }
            hotCpu = now - begin;
        }
    }

    public static void main(String[] arguments) throws Exception {
        long many = Long.parseLong(arguments[0]) * 1000000, hot = Long.parseLong(arguments[1]) * 1000000;
        Worker[] workers = new Worker[Integer.parseInt(arguments[2])];
        for (int i = 0; i < workers.length; i++) {
            workers[i] = new Worker(many, hot, (long) i << 32);
            workers[i].start();
        }
        long paths = 0, manyCpu = 0, hotCpu = 0;
        for (Worker worker : workers) {
            worker.join();
            paths += worker.paths;
            manyCpu += worker.manyCpu;
            hotCpu += worker.hotCpu;
        }
        System.out.println("paths " + paths + " many_ns " + manyCpu + " hot_ns " + hotCpu);
    }
}
