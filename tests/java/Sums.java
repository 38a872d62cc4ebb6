import java.lang.management.ManagementFactory;
import java.util.HashMap;
import java.util.Map;

import org.sparkflame.Agent;

/**
 * Two threads that compute and allocate, and short-lived threads: Sums LIBRARY START-ARGUMENTS FILE CPU-MILLISECONDS.
 * Prints the process's CPU nanoseconds during the recording, and the number of started threads.
 */
public class Sums {
    static volatile Object sink;
    static volatile boolean done;

    static long processNanos() {
        return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    }

    static void work() {
        Map<Integer, String> map = new HashMap<>();
        for (int i = 0; i < 5000; i++) {
            map.put(i, "value " + i);
        }
        sink = map;
    }

    static long ownNanos() {
        return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }

    public static void main(String[] args) throws Exception {
        System.load(args[0]);
        processNanos();
        Agent.execute(args[1]);
        long before = processNanos();
        Thread[] workers = new Thread[2];
        for (int i = 0; i < workers.length; i++) {
            workers[i] = new Thread(() -> {
                while (!done) {
                    work();
                }
            });
            workers[i].start();
        }
        int started = 0;
        while (processNanos() - before < Long.parseLong(args[3]) * 1_000_000) {
            Thread child = new Thread(() -> {
                while (ownNanos() < 100_000_000) {
                    work();
                }
            });
            child.start();
            child.join();
            started++;
        }
        done = true;
        for (Thread worker : workers) {
            worker.join();
        }
        long spent = processNanos() - before;
        Agent.execute("stop,collapsed,file=" + args[2]);
        System.out.println("process " + spent);
        System.out.println("threads " + started);
    }
}
