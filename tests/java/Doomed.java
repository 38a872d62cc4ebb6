import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongUnaryOperator;

/**
 * Has many compiled methods, and invalidates most of them as its argument says: "unloaded" with their classes,
 * "replaced" by code for a class that was loaded later, "both", or "alive": not at all.
 */
public class Doomed {
    static final int CLASSES = 120;
    static volatile long sink;

    public static class Base {
        public long step(long x) { return x + 1; }
    }

    public static class HotMethods implements LongUnaryOperator {
        final Base base = new Base();
        public long applyAsLong(long x) { return one(x) + two(x) + three(x); }
        long one(long x) { return base.step(x) * 3; }
        long two(long x) { return base.step(x) * 5; }
        long three(long x) { return base.step(x) * 7; }
    }

    /** Loading this class invalidates compiled callers that assume there is only Base.step(). */
    public static class Derived extends Base {
        public long step(long x) { return x + 2; }
    }

    static class OwnLoader extends ClassLoader {
        OwnLoader() { super(Doomed.class.getClassLoader()); }

        LongUnaryOperator make() throws Exception {
            try (InputStream in = Doomed.class.getResourceAsStream("/Doomed$HotMethods.class")) {
                ByteArrayOutputStream bytes = new ByteArrayOutputStream();
                in.transferTo(bytes);
                Class<?> made = defineClass("Doomed$HotMethods", bytes.toByteArray(), 0, bytes.size());
                return (LongUnaryOperator) made.getDeclaredConstructor().newInstance();
            }
        }
    }

    public static void main(String[] args) throws Exception {
        List<LongUnaryOperator> kept = new ArrayList<>();
        for (int i = 0; i < CLASSES; i++) {
            LongUnaryOperator made = new OwnLoader().make();
            for (int round = 0; round < 3000; round++) {
                sink += made.applyAsLong(round);
            }
            kept.add(made);
        }
        if (args[0].equals("replaced") || args[0].equals("both")) {
            sink += new Derived().step(1);
        }
        if (args[0].equals("unloaded") || args[0].equals("both")) {
            kept.clear();
            System.gc();
        }
        System.out.println("ready");
        while (System.in.read() >= 0) {
            sink++;
        }
        for (LongUnaryOperator each : kept) {
            sink += each.applyAsLong(1);
        }
    }
}
