import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Collectors;

/** Loads a library that starts busy threads; prints their CPU nanoseconds, and "NAME:times it slept" of all threads. */
public class Births {
    static native long work(int threads, int milliseconds);

    public static void main(String[] args) throws Exception {
        System.load(args[0]);
        System.out.println("worked " + work(Integer.parseInt(args[1]), Integer.parseInt(args[2])));
        try (var tasks = Files.list(Path.of("/proc/self/task"))) {
            System.out.println("threads " + tasks.map(Births::name).collect(Collectors.joining(",")));
        }
    }

    static String name(Path task) {
        try {
            String status = Files.readString(task.resolve("status"));
            return Files.readString(task.resolve("comm")).strip() + ":"
                    + status.replaceFirst("(?s).*\nvoluntary_ctxt_switches:\\s+(\\d+).*", "$1");
        } catch (java.io.IOException e) {
            return "";
        }
    }
}
