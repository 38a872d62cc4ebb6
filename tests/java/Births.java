import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Collectors;

/** Loads a library, lets it start threads that work, and prints its CPU nanoseconds and the names of all threads. */
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
            return Files.readString(task.resolve("comm")).strip();
        } catch (java.io.IOException e) {
            return "";
        }
    }
}
