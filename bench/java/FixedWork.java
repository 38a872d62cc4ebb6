import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A fixed amount of work with stacks of about fifty frames; waits for a line, works, prints the process's CPU
 * nanoseconds for it, and waits. */
public class FixedWork {
    static volatile long sink;

    static long work(int depth, int round) {
        if (depth > 0) {
            return depth % 2 == 0 ? even(depth - 1, round) : odd(depth - 1, round);
        }
        Map<String, Integer> counts = new HashMap<>();
        for (int i = 0; i < 3000; i++) {
            counts.merge(Integer.toString((i * 7 + round) % 500), 1, Integer::sum);
        }
        List<String> keys = new ArrayList<>(counts.keySet());
        keys.sort(null);
        return keys.get(round % keys.size()).hashCode();
    }

    static long even(int depth, int round) {
        return work(depth, round) + 1;
    }

    static long odd(int depth, int round) {
        return work(depth, round) + 2;
    }

    public static void main(String[] args) throws Exception {
        var system = (com.sun.management.OperatingSystemMXBean) java.lang.management.ManagementFactory.getOperatingSystemMXBean();
        var in = new java.io.BufferedReader(new java.io.InputStreamReader(System.in));
        System.out.println("ready");
        in.readLine();
        long before = system.getProcessCpuTime();
        for (int round = 0; round < 8000; round++) {
            sink += work(20 + round % 10, round);
        }
        System.out.println(system.getProcessCpuTime() - before);
        in.readLine();
    }
}
