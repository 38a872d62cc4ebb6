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
        while (true) {
            often(700_000);
            seldom(300_000);
        }
    }
}
