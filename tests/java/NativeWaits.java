/** Runs a library that waits in all blocking system calls: milliseconds, and time until the program's own signal. */
public class NativeWaits {
    static native int count();
    static native void begin(int milliseconds);
    static native void run(int index);
    static native void interrupt();
    static native void end();

    public static void main(String[] args) throws Exception {
        System.load(args[0]);
        begin(Integer.parseInt(args[1]));
        if (args.length > 2) {
            Thread.sleep(Integer.parseInt(args[2]));
            interrupt();
        } else {
            Thread[] threads = new Thread[count()];
            for (int i = 0; i < threads.length; i++) {
                int index = i;
                threads[i] = new Thread(() -> run(index));
                threads[i].start();
            }
            for (Thread thread : threads) {
                thread.join();
            }
        }
        end();
    }
}
