import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.ref.WeakReference;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** Uses CPU time, and loads or inspects libraries on request of its standard input; answers each line with one line. */
public class Loads {
    static volatile long sink;

    static native void startChurn(String[] paths, int threads, int pauseMicros);

    static native String endChurn();

    static native String slot(String library, String function);

    static void burn() {
        for (int i = 0; i < 1_000_000; i++) {
            sink += i * 31L;
        }
    }

    public static void main(String[] arguments) throws Exception {
        System.load(arguments[0]);
        Thread burner = new Thread(() -> {
            while (true) {
                burn();
            }
        });
        burner.setDaemon(true);
        burner.start();
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("ready");
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            System.out.println(answer(line.split(" ")));
        }
    }

    static String answer(String[] words) throws Exception {
        switch (words[0]) {
            case "churn":
            case "churn-slowly":
                String[] paths = new String[words.length - 1];
                System.arraycopy(words, 1, paths, 0, paths.length);
                startChurn(paths, 4, words[0].equals("churn") ? 0 : 1000);
                return "churns";
            case "calm":
                return endChurn();
            case "slot":
                return slot(words[1], words[2]);
            case "agent":
                return loadAgent(Path.of(words[1]), words[2], words[3]);
            case "temporary":
                return loadTemporary(Path.of(words[1]), words[2], Integer.parseInt(words[3]));
            case "mapped":
                return mapped(words[1]);
            default:
                return "what?";
        }
    }

    static String mapped(String part) throws Exception {
        try (var lines = Files.lines(Path.of("/proc/self/maps"))) {
            return Long.toString(lines.filter(line -> line.contains(part)).count());
        }
    }

    /** In a class loader that is collected afterwards. */
    static WeakReference<ClassLoader> loadInLoader(String classes, Path library, String command) throws Exception {
        URLClassLoader loader = new URLClassLoader(new URL[] {new URL("file:" + classes + "/")}, null);
        Class<?> user = loader.loadClass("LoadsLibrary");
        user.getMethod("load", String.class, String.class).invoke(null, library.toString(), command);
        return new WeakReference<>(loader);
    }

    static String collect(WeakReference<ClassLoader> loader) throws Exception {
        for (int i = 0; i < 100 && loader.get() != null; i++) {
            System.gc();
            Thread.sleep(20);
        }
        return loader.get() == null ? "collected" : "kept";
    }

    static String loadAgent(Path library, String classes, String command) throws Exception {
        String done = collect(loadInLoader(classes, library, command));
        Thread.sleep(1500); // signals, and the writer thread
        return done;
    }

    /** A new file each time, like libraries packaged in a jar. */
    static String loadTemporary(Path library, String classes, int count) throws Exception {
        WeakReference<ClassLoader> last = null;
        for (int i = 0; i < count; i++) {
            Path copy = Files.createTempFile("temporary-library", ".so");
            Files.copy(library, copy, StandardCopyOption.REPLACE_EXISTING);
            last = loadInLoader(classes, copy, "");
            Files.delete(copy);
            if (i % 100 == 99) {
                collect(last);
            }
        }
        return collect(last);
    }
}
