package org.sparkflame;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.Serializable;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.deploy.SparkHadoopUtil;

/**
 * A small job that checks a set-up: `spark-submit --class org.sparkflame.SampleApp … sparkflame-plugin.jar`. Prints a
 * line for each thing that works or does not; the exit status is 1 if something does not.
 */
public final class SampleApp {
    private static final int TASKS_PER_EXECUTOR = 4;
    private static final int MAX_TASKS = 400;
    private static final long TASK_MILLISECONDS = 2_000;
    private static final long ARRIVAL_MILLISECONDS = 60_000;
    private final SparkConf conf = new SparkConf().setIfMissing("spark.app.name", "sparkflame sample");
    private final Map<String, String> entries = RecorderSetup.entries(conf);
    private int bad;

    private SampleApp() {
    }

    /** What a task finds in its JVM. */
    static final class Found implements Serializable {
        private static final long serialVersionUID = 1;
        private final String executor = SparkEnv.get().executorId();
        private final String host = host();
        private final String java = System.getProperty("java.version") + " on " + System.getProperty("os.arch");
        private final boolean isRecorded = Recorder.isTagging();
        private final long samples = isRecorded ? samples() : 0;

        private static String host() {
            try {
                return InetAddress.getLocalHost().getHostName();
            } catch (UnknownHostException e) {
                return "localhost";
            }
        }

        private static long samples() {
            long[] totals = Totals.none();
            try {
                JvmTotals.countAgent(Agent.execute("metrics"), totals);
            } catch (IOException | RuntimeException | LinkageError e) {
                return 0;
            }
            return Totals.SAMPLES.of(totals);
        }
    }

    private static Found work(int number) {
        double sum = number;
        for (long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(TASK_MILLISECONDS); System.nanoTime() < end;) {
            for (int i = 0; i < 10_000; i++) {
                sum += Math.sin(sum + i);
            }
        }
        return Double.isNaN(sum) ? null : new Found();
    }

    private void good(String subject, String text) {
        System.out.printf("good     %-12s %s%n", subject, text);
    }

    private void bad(String subject, String text, String remedy) {
        bad++;
        System.out.printf("bad      %-12s %s%n%-21s → %s%n", subject, text, "", remedy);
    }

    private static boolean names(String list, String name) {
        return Arrays.asList(list.split("\\s*,\\s*")).contains(name);
    }

    /** The dialect of our class in spark.plugins; null: there is none. */
    private Dialect dialect() {
        String plugins = entries.getOrDefault("spark.plugins.defaultList", "") + "," + entries.getOrDefault("spark.plugins", "");
        if (names(plugins, "org.apache.spark.profiler.ProfilerPlugin")) {
            return Dialect.SPARK;
        }
        if (names(plugins, "org.apache.spark.executor.ExecutorProfilerPlugin")) {
            return Dialect.PROPOSAL;
        }
        if (names(plugins, "software.amazon.profiler.AmazonProfilerPlugin")) {
            return Dialect.CODEGURU;
        }
        return names(plugins, SparkflamePlugin.class.getName()) ? Dialect.SPARKFLAME : null;
    }

    private Settings checkSettings() {
        Dialect dialect = dialect();
        if (dialect == null) {
            bad("plugin", "none of ours is in spark.plugins", "--conf spark.plugins=" + SparkflamePlugin.class.getName());
            return null;
        }
        good("plugin", "in spark.plugins");
        try {
            Settings settings = Settings.read(dialect, entries, System.getenv(), true);
            for (String warning : settings.warnings) {
                bad("keys", warning, "see docs/PLUGIN.md for the keys");
            }
            if (settings.enabled) {
                good("keys", "driver " + (settings.driver ? "on" : "off") + ", executors " + (settings.executor ? "on" : "off") + ", "
                        + settings.arguments);
            } else {
                bad("keys", "profiling is off", "--conf " + Settings.PREFIX + "enabled=true");
            }
            return settings;
        } catch (SettingException e) {
            bad("keys", e.getMessage(), "correct the value");
            return null;
        }
    }

    private boolean checkOutput(Settings settings) {
        if (settings.outputDir == null && settings.collector != null) {
            return false;
        }
        if (settings.outputDir == null) {
            bad("outputDir", "not set: recordings stay on the local disk of each machine",
                    "--conf " + Settings.PREFIX + "outputDir=hdfs:///profiles");
            return false;
        }
        Path folder = new Path(settings.outputDir);
        try {
            FileSystem fileSystem = folder.getFileSystem(configuration());
            Path probe = new Path(folder, ".sample-" + Long.toHexString(System.nanoTime()));
            fileSystem.create(probe, true).close();
            fileSystem.delete(probe, false);
            good("outputDir", fileSystem.makeQualified(folder) + " can be written to by the driver");
            return true;
        } catch (IOException | RuntimeException | LinkageError e) {
            bad("outputDir", folder + ": " + e, "make it writable for the user of driver and executors, and its file system known to them");
            return false;
        }
    }

    /** A collector that would take a recording refuses one that is empty. */
    private void checkCollector(Settings settings) {
        CollectorServer server = new CollectorServer(settings);
        String group = settings.group.isEmpty() ? RecorderSetup.DEFAULT_GROUP : settings.group;
        String reason;
        try {
            CollectorServer.Answer answer = server.post("/v1/recordings?group=" + group
                    + "&application=sample&executor=driver&sequence=0", () -> new ByteArrayInputStream(new byte[0]));
            if (answer.status == 422) {
                good("collector", server + " takes recordings of the group " + group);
                return;
            }
            reason = "status " + answer.status + ": " + answer.text;
        } catch (IOException | RuntimeException | LinkageError e) {
            reason = e.toString();
        }
        bad("collector", server + ": " + reason, "see docs/COLLECTOR.md; driver and executors need a token that may write to the group "
                + group);
    }

    private Configuration configuration() {
        return SparkHadoopUtil.get().newConfiguration(conf);
    }

    private void checkJvms(Settings settings, List<Found> all) {
        Map<String, Found> jvms = new TreeMap<>();
        all.forEach(found -> jvms.merge(found.executor, found, (a, b) -> a.samples > b.samples ? a : b));
        for (Found found : jvms.values()) {
            String name = "driver".equals(found.executor) ? "driver" : "executor " + found.executor;
            String text = name + " on " + found.host + ", Java " + found.java + ": ";
            if (found.isRecorded && found.samples > 0) {
                good("recording", text + found.samples + " samples");
            } else if (settings.fraction < 1 || !settings.ids.isEmpty() || !settings.hosts.isEmpty() || settings.first < Integer.MAX_VALUE) {
                good("recording", text + "not recorded, as configured or for a reason in its log");
            } else {
                bad("recording", text + (found.isRecorded ? "no samples" : "not recorded"),
                        "its log has lines that begin with \"sparkflame:\"; see docs/TROUBLESHOOTING.md");
            }
        }
    }

    private List<Found> runJob(JavaSparkContext context) {
        int tasks = Math.min(MAX_TASKS, Math.max(context.defaultParallelism(), TASKS_PER_EXECUTOR));
        List<Integer> numbers = new ArrayList<>();
        for (int i = 0; i < tasks; i++) {
            numbers.add(i);
        }
        return context.parallelize(numbers, tasks).map(SampleApp::work).collect();
    }

    /** Recordings of each JVM, whole ones, in the folder of the application. */
    private Map<String, Integer> recordings(Path application) throws IOException {
        Map<String, Integer> counts = new TreeMap<>();
        FileSystem fileSystem = application.getFileSystem(configuration());
        for (FileStatus folder : fileSystem.listStatus(application)) {
            for (FileStatus file : folder.isDirectory() ? fileSystem.listStatus(folder.getPath()) : new FileStatus[0]) {
                RecordingRange range = RecordingRange.of(file);
                if (range != null && isWhole(fileSystem, range)) {
                    counts.merge(folder.getPath().getName(), 1, Integer::sum);
                }
            }
        }
        return counts;
    }

    private static boolean isWhole(FileSystem fileSystem, RecordingRange range) throws IOException {
        JfrChunks chunks = new JfrChunks();
        byte[] buffer = new byte[1 << 16];
        try (InputStream bytes = fileSystem.open(range.path)) {
            InputStream plain = range.extension.endsWith(".gz") ? new java.util.zip.GZIPInputStream(bytes) : bytes;
            for (int got = plain.read(buffer); got >= 0; got = plain.read(buffer)) {
                chunks.add(buffer, got);
            }
        }
        return chunks.isWhole();
    }

    /** Executors ship while they end, which is after the driver has told them. */
    private void checkShipped(Settings settings, String application, List<Found> all) throws Exception {
        Path folder = new Path(settings.outputDir, settings.group.isEmpty() ? application : settings.group + "/" + application);
        Map<String, String> wanted = new TreeMap<>();
        for (Found found : all) {
            if (found.isRecorded) {
                wanted.put(found.executor.equals("driver") ? "driver" : "exec-" + found.executor, found.host);
            }
        }
        Map<String, Integer> counts = new TreeMap<>();
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(ARRIVAL_MILLISECONDS);
        while (!counts.keySet().containsAll(wanted.keySet()) && System.nanoTime() < end) {
            try {
                counts = recordings(folder);
            } catch (IOException e) {
                Thread.sleep(500); // not there yet
            }
            Thread.sleep(200);
        }
        for (Map.Entry<String, String> jvm : wanted.entrySet()) {
            Integer count = counts.get(jvm.getKey());
            if (count != null) {
                good("shipped", folder + "/" + jvm.getKey() + ": " + count + (count == 1 ? " recording" : " recordings"));
            } else {
                bad("shipped", "no recording of " + jvm.getKey() + " on " + jvm.getValue() + " is in " + folder,
                        "its log says why: it may not write there, or was killed while it ended");
            }
        }
        System.out.println("Fetch " + folder + ", then: sparkflame flame " + application + "/ -o sample.html");
    }

    private int run() throws Exception {
        Settings settings = checkSettings();
        boolean canShip = settings != null && checkOutput(settings);
        if (settings != null && settings.collector != null) {
            checkCollector(settings);
        }
        if (settings == null || !settings.enabled) {
            return bad;
        }
        String application;
        List<Found> all;
        try (JavaSparkContext context = new JavaSparkContext(conf)) {
            String attempt = context.getConf().get("spark.app.attempt.id", "");
            application = context.sc().applicationId() + (attempt.isEmpty() ? "" : "_" + attempt);
            good("Spark", context.version() + ", " + context.master() + ", " + application);
            all = runJob(context);
        }
        checkJvms(settings, all);
        if (canShip && settings.dialect.writesOneFile()) {
            good("shipped", "to one file per JVM in " + settings.outputDir + "/" + application + ", which this does not check");
        } else if (canShip) {
            checkShipped(settings, application, all);
        }
        return bad;
    }

    public static void main(String... arguments) throws Exception {
        int problems = new SampleApp().run();
        System.out.println(problems == 0 ? "All of it works." : problems + (problems == 1 ? " problem." : " problems."));
        if (problems > 0) {
            System.exit(1);
        }
    }
}
