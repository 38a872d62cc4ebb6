import org.sparkflame.Agent;

/** Loads the named classes with the boot loader, and then the library; runs under the profiler for a while. */
public class Tried {
    static volatile long sum;

    public static void main(String[] args) throws Exception {
        for (int i = 2; i < args.length; i++) {
            Class.forName(args[i], true, null);
        }
        System.load(args[0]);
        Agent.execute(args[1]);
        long end = System.nanoTime() + 300_000_000;
        while (System.nanoTime() < end) {
            sum += System.identityHashCode(args) % 7;
        }
        Agent.execute("stop");
    }
}
