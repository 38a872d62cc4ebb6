import java.util.concurrent.locks.LockSupport;

/** One thread each that sleeps, parks, waits for a lock, and uses CPU time; ends after the given milliseconds. */
public class Waits {
    static final Object lock = new Object();
    static volatile boolean over;
    static volatile long sink;

    static void sleeps() throws InterruptedException {
        while (!over) {
            Thread.sleep(20);
        }
    }

    static void parks() {
        while (!over) {
            LockSupport.parkNanos(30_000_000);
        }
    }

    static void waitsForLock() {
        synchronized (lock) {
            sink++;
        }
    }

    static void burns() {
        long sum = 1;
        while (!over) {
            for (int i = 0; i < 100_000; i++) {
                sum = sum * 31 + i;
            }
            sink = sum;
        }
    }

    interface Body {
        void run() throws Exception;
    }

    static Thread start(String name, Body body) {
        Thread thread = new Thread(() -> {
            try {
                body.run();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }, name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    public static void main(String[] args) throws Exception {
        synchronized (lock) {
            start("sleeper", Waits::sleeps);
            start("parker", Waits::parks);
            start("locked", Waits::waitsForLock);
            start("busy", Waits::burns);
            System.out.println("ready");
            Thread.sleep(Long.parseLong(args[0]));
            over = true;
        }
    }
}
