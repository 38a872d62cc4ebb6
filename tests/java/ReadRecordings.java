import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Runs the JDK's jfr summary and jfr print on each file of a folder: "NAME EVENTS" or "NAME failed REASON". */
public class ReadRecordings {
    static String run(String command, Path file, PrintStream standard) throws Exception {
        Class<?> type = Class.forName("jdk.jfr.internal.tool." + command);
        var constructor = type.getDeclaredConstructor();
        constructor.setAccessible(true);
        Object instance = constructor.newInstance();
        Method execute = type.getDeclaredMethod("execute", Deque.class);
        execute.setAccessible(true);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        System.setOut(new PrintStream(bytes, true));
        try {
            execute.invoke(instance, new ArrayDeque<>(List.of(file.toString())));
        } finally {
            System.out.flush();
            System.setOut(standard);
        }
        return bytes.toString();
    }

    public static void main(String[] arguments) throws Exception {
        PrintStream standard = System.out;
        List<Path> files;
        try (Stream<Path> all = Files.list(Path.of(arguments[0]))) {
            files = all.filter(path -> path.toString().endsWith(".jfr")).sorted().collect(Collectors.toList());
        }
        for (Path file : files) {
            try {
                run("Summary", file, standard);
                long samples = run("Print", file, standard).lines().filter(line -> line.startsWith("jdk.ExecutionSample")).count();
                standard.println(file.getFileName() + " " + samples);
            } catch (InvocationTargetException e) {
                standard.println(file.getFileName() + " failed " + e.getCause());
            }
        }
    }
}
