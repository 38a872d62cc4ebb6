import org.sparkflame.Agent;

/** Threads that run tasks one after another: labelled by a call, by Spark's thread names, or not at all. */
public class Tags {
    static volatile long sink;

    static void burn(long milliseconds) {
        var clock = java.lang.management.ManagementFactory.getThreadMXBean();
        long end = clock.getCurrentThreadCpuTime() + milliseconds * 1_000_000;
        long sum = 1;
        while (clock.getCurrentThreadCpuTime() < end) {
            for (int i = 0; i < 20_000; i++) {
                sum = sum * 31 + i;
            }
        }
        sink = sum;
    }

    static void taskOne() { burn(250); }
    static void taskTwo() { burn(250); }
    static void between() { burn(100); }
    static void named() { burn(250); }

    public static void main(String[] args) throws Exception {
        // Spark loads it from a lambda, which is a hidden class: the walker's check must recognize its frame.
        Runnable load = () -> System.load(args[0]);
        load.run();
        if (args.length > 1) {
            Runnable start = () -> System.out.print(Agent.execute(args[1]));
            start.run();
        }
        Thread called = new Thread(() -> {
            Agent.setTag("stage=1;task=10");
            taskOne();
            Agent.setTag(null);
            between();
            Agent.setTag("stage=1;task=11");
            taskTwo();
            Agent.setTag("");
        }, "called");
        Thread renamed = new Thread(() -> {
            Thread.currentThread().setName("Executor task launch worker for task 3.1 in stage 7.0 (TID 41)");
            named();
        }, "Executor task launch worker-0");
        called.start();
        renamed.start();
        called.join();
        renamed.join();
        if (args.length > 1) {
            System.out.print(Agent.execute("stop"));
        }
        try {
            Agent.execute("start,event=nonsense");
        } catch (IllegalArgumentException e) {
            System.out.println("refused: " + e.getMessage());
        }
    }
}
