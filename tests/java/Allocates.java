import java.util.ArrayList;
import java.util.List;

/** Allocates two types of arrays in known proportion, keeps some, and makes threads wait for a lock. */
public class Allocates {
    static final List<Object> kept = new ArrayList<>();
    static final Object lock = new Object();
    static volatile Object sink;

    static void bytes(int count) {
        for (int i = 0; i < count; i++) {
            sink = new byte[3000];
        }
    }

    static void longs(int count) {
        for (int i = 0; i < count; i++) {
            sink = new long[125];
        }
    }

    static void keeps() {
        for (int i = 0; i < 200; i++) {
            kept.add(new int[25_000]);
        }
    }

    static void holds() throws InterruptedException {
        synchronized (lock) {
            Thread.sleep(60);
        }
    }

    public static void main(String[] args) throws Exception {
        keeps();
        for (int round = 0; round < 300; round++) {
            bytes(1000);
            longs(1000);
        }
        Thread[] threads = new Thread[3];
        synchronized (lock) {
            for (int i = 0; i < threads.length; i++) {
                threads[i] = new Thread(() -> {
                    try {
                        holds();
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                }, "waiter-" + i);
                threads[i].start();
            }
            for (Thread thread : threads) {
                while (thread.getState() != Thread.State.BLOCKED) {
                    Thread.sleep(1);
                }
            }
            Thread.sleep(20);
        }
        for (Thread thread : threads) {
            thread.join();
        }
        sink = null;
        System.gc();
        System.out.println("kept " + kept.size());
    }
}
