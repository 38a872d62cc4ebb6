import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/** Threads that wait for each other's locks, and one that waits on an empty queue. */
public class Locks {
    static final ReentrantLock lock = new ReentrantLock();
    static final ReentrantReadWriteLock.WriteLock writing = new ReentrantReadWriteLock().writeLock();

    static void holdsLock() throws InterruptedException {
        lock.lock();
        try {
            Thread.sleep(5);
        } finally {
            lock.unlock();
        }
        writing.lock();
        try {
            Thread.sleep(5);
        } finally {
            writing.unlock();
        }
    }

    public static void main(String[] arguments) throws Exception {
        int rounds = Integer.parseInt(arguments[0]);
        Thread idle = new Thread(() -> {
            try {
                new java.util.concurrent.LinkedBlockingQueue<String>().take();
            } catch (InterruptedException over) {
                return;
            }
        }, "idle");
        idle.start();
        Thread[] threads = new Thread[3];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(() -> {
                try {
                    for (int round = 0; round < rounds; round++)
                        holdsLock();
                } catch (InterruptedException over) {
                    return;
                }
            }, "locker-" + i);
            threads[i].start();
        }
        for (Thread thread : threads)
            thread.join();
        idle.interrupt();
    }
}
