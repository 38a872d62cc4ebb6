import java.util.function.IntSupplier;

/** Calls through an interface of many classes, so that itable stubs are used; has many methods to compile. */
public class Dispatch {
    static class One implements IntSupplier { public int getAsInt() { return 1; } }
    static class Two implements IntSupplier { public int getAsInt() { return 2; } }
    static class Three implements IntSupplier { public int getAsInt() { return 3; } }
    static class Four implements IntSupplier { public int getAsInt() { return 4; } }

    static int calls(IntSupplier[] suppliers) {
        int sum = 0;
        for (int i = 0; i < 1_000_000; i++)
            sum += suppliers[i & 3].getAsInt();
        return sum;
    }

    public static void main(String[] arguments) throws Exception {
        long end = System.nanoTime() + Long.parseLong(arguments[0]) * 1_000_000;
        IntSupplier[] suppliers = {new One(), new Two(), new Three(), new Four()};
        int sum = 0;
        while (System.nanoTime() < end)
            sum += calls(suppliers);
        System.out.println(sum);
    }
}
