import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Stresses a profiler for the given seconds: loads, redefines and unloads classes, invalidates compiled code, throws
 * exceptions, overflows stacks, starts short-lived threads (also of a library) and processes, and fills the heap.
 */
public class Soak {
    static volatile boolean over;
    static volatile long sink;
    static volatile String library;
    static final AtomicLong done = new AtomicLong();

    public interface Shape {
        double area(double x);
    }

    public static class Square implements Shape {
        public double area(double x) { return x * x; }
    }

    public static class Circle implements Shape {
        public double area(double x) { return x * x * 3.14; }
    }

    public static class Triangle implements Shape {
        public double area(double x) { return x * x / 2 + (x > 5 ? deeper(x) : 0); }
        double deeper(double x) { return x < 1 ? x : deeper(x - 1) + 1; }
    }

    static class OwnLoader extends ClassLoader {
        OwnLoader() { super(Soak.class.getClassLoader()); }

        Class<?> define(String name) throws Exception {
            try (InputStream in = Soak.class.getResourceAsStream("/" + name.replace('.', '/') + ".class")) {
                ByteArrayOutputStream bytes = new ByteArrayOutputStream();
                in.transferTo(bytes);
                return defineClass(name, bytes.toByteArray(), 0, bytes.size());
            }
        }
    }

    static double sum(Shape[] shapes, int rounds) {
        double sum = 0;
        for (int i = 0; i < rounds; i++) {
            sum += shapes[i % shapes.length].area(i % 17);
        }
        return sum;
    }

    /** New classes invalidate monomorphic call sites: code is discarded and recompiled. */
    static void loadsAndUnloads() throws Exception {
        String[] names = {"Soak$Square", "Soak$Circle", "Soak$Triangle"};
        while (!over) {
            OwnLoader loader = new OwnLoader();
            Shape[] shapes = new Shape[names.length];
            for (int i = 0; i < names.length; i++) {
                shapes[i] = (Shape) loader.define(names[i]).getDeclaredConstructor().newInstance();
            }
            sink = (long) sum(shapes, 20_000);
            done.incrementAndGet();
        }
    }

    static java.lang.instrument.Instrumentation instrumentation;

    public static void premain(String arguments, java.lang.instrument.Instrumentation given) {
        instrumentation = given;
    }

    public static class Changing {
        long work(long x) { return inner(x) + inner(x + 1); }
        long inner(long x) { return x * 31 + (x >>> 3); }
    }

    static void runsWhatChanges() {
        Changing changing = new Changing();
        while (!over) {
            for (int i = 0; i < 5000; i++) {
                sink += changing.work(i);
            }
            done.incrementAndGet();
        }
    }

    /** Redefinition with the same bytes still creates new methods, while the old ones are running. */
    static void redefines() throws Exception {
        while (!over && instrumentation != null) {
            byte[] bytes;
            try (InputStream in = Soak.class.getResourceAsStream("/Soak$Changing.class")) {
                bytes = in.readAllBytes();
            }
            instrumentation.redefineClasses(new java.lang.instrument.ClassDefinition(Changing.class, bytes));
            done.incrementAndGet();
            Thread.sleep(20);
        }
    }

    static int throwsAt(int depth, int limit) {
        if (depth == limit) {
            throw new IllegalStateException("at " + depth);
        }
        return throwsAt(depth + 1, limit) + 1;
    }

    static int overflows(int depth) {
        return overflows(depth + 1) + 1;
    }

    static void exceptions() {
        Random random = new Random(1);
        while (!over) {
            for (int i = 0; i < 200; i++) {
                try {
                    sink += throwsAt(0, random.nextInt(40));
                } catch (IllegalStateException e) {
                    sink += e.getMessage().length();
                }
                try {
                    Object nothing = i % 2 == 0 ? null : "x";
                    sink += nothing.hashCode();
                } catch (NullPointerException e) {
                    sink++;
                }
            }
            try {
                overflows(0);
            } catch (StackOverflowError e) {
                sink++;
            }
            done.incrementAndGet();
        }
    }

    static void threads() throws Exception {
        while (!over) {
            List<Thread> started = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                Thread thread = new Thread(() -> sink += throwsSafely());
                thread.start();
                started.add(thread);
            }
            for (Thread thread : started) {
                thread.join();
            }
            done.incrementAndGet();
        }
    }

    static long throwsSafely() {
        try {
            return throwsAt(0, 20);
        } catch (IllegalStateException e) {
            return 1;
        }
    }

    static void processes() throws Exception {
        while (!over) {
            Process process = new ProcessBuilder("true").start();
            process.waitFor();
            done.incrementAndGet();
            Thread.sleep(50);
        }
    }

    static void garbage() {
        Object[] kept = new Object[4096];
        while (!over) {
            for (int i = 0; i < 4096; i++) {
                kept[ThreadLocalRandom.current().nextInt(kept.length)] = new long[ThreadLocalRandom.current().nextInt(200)];
            }
            int[] from = new int[100_000], to = new int[100_000];
            System.arraycopy(from, 0, to, 0, from.length);
            sink += to[7];
            done.incrementAndGet();
        }
    }

    static void lambdas() {
        while (!over) {
            long total = java.util.stream.LongStream.range(0, 2000).map(x -> x * 7).filter(x -> x % 3 == 0).sum();
            sink += total + String.format("%d-%s", total, "x").hashCode();
            done.incrementAndGet();
        }
    }

    /** Threads started by a library that is loaded meanwhile. */
    static void foreignThreads() throws Exception {
        if (library != null) {
            Thread.sleep(1000);
            System.load(library);
        }
        while (!over && library != null) {
            Births.work(20, 1);
            done.incrementAndGet();
            Thread.sleep(50);
        }
    }

    /** If the JDK has them. */
    static void virtualThreads() throws Exception {
        java.lang.reflect.Method start;
        try {
            start = Thread.class.getMethod("startVirtualThread", Runnable.class);
        } catch (NoSuchMethodException e) {
            return;
        }
        while (!over) {
            List<Thread> started = new ArrayList<>();
            for (int i = 0; i < 50; i++) {
                started.add((Thread) start.invoke(null, (Runnable) () -> {
                    sink += throwsSafely();
                    Thread.yield();
                    sink += throwsSafely();
                }));
            }
            for (Thread thread : started) {
                thread.join();
            }
            done.incrementAndGet();
        }
    }

    /** Time while the whole process is stopped from outside does not count. */
    static void runFor(long seconds) throws InterruptedException {
        long left = seconds * 1_000_000_000L, before = System.nanoTime();
        while (left > 0) {
            Thread.sleep(100);
            long now = System.nanoTime();
            left -= Math.min(now - before, 1_000_000_000L);
            before = now;
        }
    }

    interface Body {
        void run() throws Exception;
    }

    public static void main(String[] args) throws Exception {
        Body[] bodies = {Soak::loadsAndUnloads, Soak::exceptions, Soak::threads, Soak::processes, Soak::garbage,
                         Soak::lambdas, Soak::virtualThreads, Soak::runsWhatChanges, Soak::redefines,
                         Soak::foreignThreads};
        library = args.length > 1 ? args[1] : null;
        Thread[] threads = new Thread[bodies.length];
        Throwable[] failure = new Throwable[1];
        for (int i = 0; i < bodies.length; i++) {
            Body body = bodies[i];
            threads[i] = new Thread(() -> {
                try {
                    body.run();
                } catch (Throwable e) {
                    failure[0] = e;
                }
            }, "soak-" + i);
            threads[i].start();
        }
        System.out.println(instrumentation == null ? "ready" : "ready, redefines classes");
        runFor(Long.parseLong(args[0]));
        over = true;
        for (Thread thread : threads) {
            thread.join();
        }
        if (failure[0] != null) {
            throw new IllegalStateException(failure[0]);
        }
        System.out.println("done " + done.get());
    }
}
