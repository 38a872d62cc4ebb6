import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import org.sparkflame.Agent;

/** Starts and stops the profiler repeatedly for that many milliseconds, while threads start and end. */
public class Ends {
    static volatile boolean ending;

    static void live() {
        LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(200_000_000));
    }

    static void churn() {
        Thread[] threads = new Thread[16];
        while (!ending) {
            for (int i = 0; i < threads.length; i++) {
                threads[i] = new Thread(Ends::live);
                threads[i].start();
            }
            for (Thread thread : threads) {
                try {
                    thread.join();
                } catch (InterruptedException e) {
                    return;
                }
            }
        }
    }

    public static void main(String[] args) throws Exception {
        for (int i = 1; i < args.length; i++) {
            System.load(args[i]);
        }
        Thread[] threads = new Thread[4];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(Ends::churn);
            threads[i].start();
        }
        long end = System.currentTimeMillis() + Long.parseLong(args[0]);
        int rounds = 0;
        for (; System.currentTimeMillis() < end; rounds++) {
            Agent.execute("start,event=ctimer");
            Agent.execute("stop");
        }
        ending = true;
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println("rounds " + rounds);
    }
}
