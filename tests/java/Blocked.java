/** Runs threads of a library that block signals. */
public class Blocked {
    static native void run();

    public static void main(String[] args) {
        System.load(args[0]);
        run();
    }
}
