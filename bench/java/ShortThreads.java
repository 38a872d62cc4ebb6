/** Starts threads that compute for less than a millisecond; waits for a line, works, prints the process's CPU
 * nanoseconds for it, and waits. */
public class ShortThreads {
    static volatile long sink;

    static void compute() {
        long sum = 1;
        for (int i = 0; i < 400_000; i++) {
            sum = sum * 31 + (sum >>> 7);
        }
        sink += sum;
    }

    public static void main(String[] args) throws Exception {
        var system = (com.sun.management.OperatingSystemMXBean) java.lang.management.ManagementFactory.getOperatingSystemMXBean();
        var in = new java.io.BufferedReader(new java.io.InputStreamReader(System.in));
        System.out.println("ready");
        in.readLine();
        long before = system.getProcessCpuTime();
        for (int round = 0; round < 600; round++) {
            Thread[] threads = new Thread[4];
            for (int i = 0; i < threads.length; i++) {
                threads[i] = new Thread(ShortThreads::compute);
                threads[i].start();
            }
            for (Thread thread : threads) {
                thread.join();
            }
        }
        System.out.println(system.getProcessCpuTime() - before);
        in.readLine();
    }
}
