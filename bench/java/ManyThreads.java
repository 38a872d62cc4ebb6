import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/**
 * 300 threads that wait, sleep or park, and three that do FixedWork's work, partly under one lock; waits for a line,
 * lets the three work, prints the process's CPU nanoseconds for it, and waits.
 */
public class ManyThreads {
    static final int IDLE = 300, BUSY = 3, ROUNDS = 8000;
    static final Object never = new Object(), shared = new Object();
    static volatile long sink;

    static void idle(int kind, CountDownLatch begun) {
        begun.countDown();
        try {
            while (true) {
                if (kind == 0) {
                    synchronized (never) {
                        never.wait();
                    }
                } else if (kind == 1) {
                    LockSupport.park();
                } else {
                    Thread.sleep(3_600_000);
                }
            }
        } catch (InterruptedException e) {
            return;
        }
    }

    static void busy() {
        for (int round = 0; round < ROUNDS; round++) {
            if (round % 4 == 0) {
                synchronized (shared) {
                    sink += FixedWork.work(20 + round % 10, round);
                }
            } else {
                sink += FixedWork.work(20 + round % 10, round);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        var system = (com.sun.management.OperatingSystemMXBean) java.lang.management.ManagementFactory.getOperatingSystemMXBean();
        var in = new java.io.BufferedReader(new java.io.InputStreamReader(System.in));
        CountDownLatch begun = new CountDownLatch(IDLE);
        for (int i = 0; i < IDLE; i++) {
            int kind = i % 3;
            Thread thread = new Thread(() -> idle(kind, begun), "idle-" + i);
            thread.setDaemon(true);
            thread.start();
        }
        begun.await();
        System.out.println("ready");
        in.readLine();
        long before = system.getProcessCpuTime();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < BUSY; i++) {
            threads.add(new Thread(ManyThreads::busy, "busy-" + i));
        }
        for (Thread thread : threads) {
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println(system.getProcessCpuTime() - before);
        in.readLine();
    }
}
