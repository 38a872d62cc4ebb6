package org.sparkflame;

import java.lang.management.ManagementFactory;

/** What the tag of a task costs its thread, while a recording runs: TagCost LIBRARY FILE. Prints the least of some
 * rounds. */
public final class TagCost {
    private static final int TASKS = 5_000;
    private static final int ROUNDS = 100;

    private static long round(int first) {
        var clock = ManagementFactory.getThreadMXBean();
        long before = clock.getCurrentThreadCpuTime();
        for (int i = first; i < first + TASKS; i++) {
            Agent.setTaskTag(TaskTag.of(i / 200, 0, i % 200, 0, i, "17"));
            Agent.setTaskTag(null);
        }
        return clock.getCurrentThreadCpuTime() - before;
    }

    public static void main(String[] arguments) throws Exception {
        System.load(arguments[0]);
        Agent.execute("start,jfr,event=cpu,interval=10ms,wall=100ms,file=" + arguments[1]);
        long best = Long.MAX_VALUE;
        for (int i = 0; i < ROUNDS; i++) {
            best = Math.min(best, round(i * TASKS));
            Thread.sleep(100);
        }
        Agent.execute("stop");
        System.out.printf("%.2f µs of CPU per task%n", best / 1e3 / TASKS);
    }
}
