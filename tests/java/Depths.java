/** Uses CPU time at a known stack depth, and prints the CPU time of its thread: Depths [LEVELS ROUNDS STEPS]. */
public class Depths {
    static volatile long sink;

    static int steps = 20_000_000;

    static long deep(int levels) {
        if (levels > 0) {
            return deep(levels - 1) + 1;
        }
        long sum = 1;
        for (int i = 0; i < steps; i++) {
            sum = sum * 31 + i;
        }
        return sum;
    }

    public static void main(String[] args) {
        int levels = args.length > 0 ? Integer.parseInt(args[0]) : 200, rounds = args.length > 1 ? Integer.parseInt(args[1]) : 40;
        steps = args.length > 2 ? Integer.parseInt(args[2]) : steps;
        var clock = java.lang.management.ManagementFactory.getThreadMXBean();
        long begin = clock.getCurrentThreadCpuTime();
        for (int i = 0; i < rounds; i++) {
            sink = deep(levels);
        }
        System.out.println("spent " + (clock.getCurrentThreadCpuTime() - begin));
    }
}
