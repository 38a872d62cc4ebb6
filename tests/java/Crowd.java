import java.lang.reflect.InvocationTargetException;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.reflect.Method;
import java.net.HttpURLConnection;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Callable;

/** Uses CPU time while libraries are loaded and unloaded, and loads profilers as its standard input asks. */
public class Crowd {
    interface Profiler {
        Object execute(String command) throws Exception;
    }

    static final Map<String, Profiler> PROFILERS = new HashMap<>();

    public static void main(String[] arguments) throws Exception {
        System.load(arguments[0]);
        Thread burner = new Thread(() -> {
            while (true) {
                Loads.burn();
            }
        }, "burner");
        burner.setDaemon(true);
        burner.start();
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("ready");
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            String[] words = line.split(" ");
            System.out.println("> " + guarded(() -> answer(words)).replace('\n', ' '));
        }
    }

    static String guarded(Callable<String> call) {
        try {
            return call.call();
        } catch (InvocationTargetException e) {
            return "refused: " + e.getCause();
        } catch (Exception e) {
            return "refused: " + e;
        }
    }

    static String answer(String[] words) throws Exception {
        switch (words[0]) {
            case "plugin":
                PROFILERS.put(words[0], plugin(words[1], words[2]));
                return "loaded";
            case "copy":
                PROFILERS.put(words[0], copy(words[1], words[2]));
                return "loaded";
            case "async-profiler":
                PROFILERS.put(words[0], asyncProfiler(words[1], words[2]));
                return "loaded";
            case "execute":
                return String.valueOf(PROFILERS.get(words[1]).execute(words[2]));
            case "request":
                return request();
            default:
                return Loads.answer(words);
        }
    }

    static ClassLoader loader(String place) throws Exception {
        return new URLClassLoader(new URL[] {new URL("file:" + place)}, null);
    }

    /** Like the Spark plugin: a temporary copy from its jar. */
    static Profiler plugin(String jar, String folder) throws Exception {
        ClassLoader loader = loader(jar);
        Method load = loader.loadClass("org.sparkflame.NativeLibrary").getDeclaredMethod("load", String[].class);
        load.setAccessible(true);
        load.invoke(null, (Object) new String[] {folder});
        Method execute = loader.loadClass("org.sparkflame.Agent").getMethod("execute", String.class);
        return command -> execute.invoke(null, command);
    }

    /** Another copy of the library, in a class loader that delegates to no other. */
    static Profiler copy(String classes, String library) throws Exception {
        ClassLoader loader = loader(classes + "/");
        loader.loadClass("LoadsLibrary").getMethod("load", String.class, String.class).invoke(null, library, "");
        Method execute = loader.loadClass("org.sparkflame.Agent").getMethod("execute", String.class);
        return command -> execute.invoke(null, command);
    }

    static Profiler asyncProfiler(String jar, String library) throws Exception {
        Class<?> type = loader(jar).loadClass("one.profiler.AsyncProfiler");
        Object profiler = type.getMethod("getInstance", String.class).invoke(null, library);
        Method execute = type.getMethod("execute", String.class);
        return command -> execute.invoke(profiler, command);
    }

    /** One HTTP request, which OpenTelemetry records as a span. */
    static String request() throws Exception {
        try (ServerSocket server = new ServerSocket(0)) {
            Thread answering = new Thread(() -> {
                try (Socket socket = server.accept()) {
                    socket.getInputStream().read(new byte[65536]);
                    socket.getOutputStream().write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"
                            .getBytes(StandardCharsets.US_ASCII));
                } catch (java.io.IOException e) {
                    throw new java.io.UncheckedIOException(e);
                }
            });
            answering.start();
            HttpURLConnection connection =
                    (HttpURLConnection) new URL("http://127.0.0.1:" + server.getLocalPort() + "/").openConnection();
            int status = connection.getResponseCode();
            connection.disconnect();
            answering.join();
            return "status " + status;
        }
    }
}
