/** Burns CPU time at a known depth. */
public class Depths {
    static volatile long sink;

    static long deep(int levels) {
        if (levels > 0) {
            return deep(levels - 1) + 1;
        }
        long sum = 1;
        for (int i = 0; i < 20_000_000; i++) {
            sum = sum * 31 + i;
        }
        return sum;
    }

    public static void main(String[] args) {
        for (int i = 0; i < 40; i++) {
            sink = deep(200);
        }
    }
}
