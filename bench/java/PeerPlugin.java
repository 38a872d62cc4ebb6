import java.io.FileInputStream;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import one.profiler.AsyncProfiler;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.api.plugin.SparkPlugin;
import org.apache.spark.deploy.SparkHadoopUtil;

/**
 * Gives async-profiler the commands that Spark's own profiler plugin gives it in an executor, which is in no
 * registry: start; every interval stop, dump and resume, and what is new in the file goes to the output; at the end
 * stop and dump.
 */
public final class PeerPlugin implements SparkPlugin {
    @Override
    public DriverPlugin driverPlugin() {
        return null;
    }

    @Override
    public ExecutorPlugin executorPlugin() {
        return new Side();
    }

    private static final class Side implements ExecutorPlugin {
        private final ScheduledExecutorService thread =
                Executors.newSingleThreadScheduledExecutor(task -> new Thread(task, "profilerOutputThread"));
        private AsyncProfiler profiler;
        private String options;
        private InputStream written;
        private OutputStream shipped;

        @Override
        public void init(PluginContext plugin, Map<String, String> extra) {
            Path output = new Path(plugin.conf().get("spark.peer.outputDir"));
            java.nio.file.Path local = Paths.get(plugin.conf().get("spark.peer.localDir"), "profile-exec-" + plugin.executorID() + ".jfr");
            long seconds = Long.parseLong(plugin.conf().get("spark.peer.seconds"));
            options = plugin.conf().get("spark.peer.args") + ",file=" + local;
            try {
                Files.createDirectories(local.getParent());
                FileSystem files = output.getFileSystem(SparkHadoopUtil.get().newConfiguration(plugin.conf()));
                files.mkdirs(output);
                profiler = AsyncProfiler.getInstance(plugin.conf().get("spark.peer.library"));
                // On this thread: those that the profiler starts have its name then.
                thread.submit(() -> profiler.execute("start," + options)).get();
                written = new FileInputStream(local.toFile());
                shipped = files.create(new Path(output, local.getFileName().toString()));
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
            thread.scheduleWithFixedDelay(() -> ship(true), seconds, seconds, TimeUnit.SECONDS);
        }

        private void ship(boolean goesOn) {
            try {
                profiler.execute("stop," + options);
                profiler.execute("dump," + options);
                int count = written.available();
                if (goesOn) {
                    profiler.execute("resume," + options);
                }
                byte[] bytes = new byte[count];
                shipped.write(bytes, 0, Math.max(0, written.read(bytes)));
            } catch (Exception e) {
                System.err.println("peer: " + e);
            }
        }

        @Override
        public void shutdown() {
            thread.shutdown();
            try {
                thread.awaitTermination(30, TimeUnit.SECONDS);
                profiler.execute("stop," + options);
                ship(false);
                shipped.close();
            } catch (Exception e) {
                System.err.println("peer: " + e);
            }
        }
    }
}
