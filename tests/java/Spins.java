/** Spends its time in two methods until its standard input ends. */
public class Spins {
    static volatile long sink;

    static void often(int rounds) {
        for (int i = 0; i < rounds; i++) {
            sink += i * 31L;
        }
    }

    static void seldom(int rounds) {
        for (int i = 0; i < rounds; i++) {
            sink += i * 17L;
        }
    }

    public static void main(String[] arguments) throws Exception {
        Thread waiter = new Thread(() -> {
            try {
                while (System.in.read() >= 0) {
                }
            } catch (java.io.IOException ignored) {
            }
            System.exit(0);
        });
        waiter.setDaemon(true);
        waiter.start();
        System.out.println("ready");
        // Of varying length: a program that repeats itself within a sampling interval or so would keep step with it.
        java.util.SplittableRandom random = new java.util.SplittableRandom(1);
        while (true) {
            int rounds = random.nextInt(10_000, 190_000);
            often(7 * rounds);
            seldom(3 * rounds);
        }
    }
}
