package org.sparkflame;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** All settings, from Spark's configuration and the environment. */
final class Settings {
    static final String PREFIX = "spark.sparkflame.";
    /** Between two recordings of a JVM, at first and, unless the interval is configured, later. */
    private static final long INTERVAL_MILLISECONDS = 30_000;
    private static final long LONGEST_INTERVAL_MILLISECONDS = 300_000;
    static final String DEFAULT_ARGUMENTS = "event=cpu,interval=10ms,wall=100ms,alloc=2m,lock=10ms";
    /** Against "keep=30", which would be seconds. */
    private static final long MIN_KEEP_MILLISECONDS = 3_600_000;
    /** Local folders are memory of the pod then. */
    private static final String TMPFS_KEY = "spark.kubernetes.local.dirs.tmpfs";
    private static final long TMPFS_LIMIT_BYTES = 128L << 20;
    /** Half of what a container has by default. */
    private static final long SHARED_LIMIT_BYTES = 32L << 20;
    private static final String SPARK_PREFIX = "spark.profiler.";
    private static final String PROPOSAL_PREFIX = "spark.executor.profiling.";
    private static final Set<String> KEYS = names("enabled", "driver.enabled", "executor.enabled", "executor.fraction",
            "executor.ids", "executor.hosts", "executor.first", "args", "outputDir", "localDir", "interval",
            "maxInterval", "descriptions", "driver.tags", "shutdownTimeout", "group", "localLimit", "memoryLimit",
            "compact", "compress", "control", "python.enabled", "python.rate", "join", "keep", "keepBytes",
            "keepApplicationBytes", "allowUnencrypted", "collector", "collector.tokenFile", "collector.caFile");

    Dialect dialect = Dialect.SPARKFLAME;
    boolean enabled = true;
    boolean driver = true;
    boolean executor = true;
    double fraction = 1;
    Set<String> ids = Collections.emptySet();
    Set<String> hosts = Collections.emptySet();
    int first = Integer.MAX_VALUE;
    String arguments = DEFAULT_ARGUMENTS;
    /** Any Hadoop file system; null: recordings stay in localDir. */
    String outputDir;
    /** Address of a collector, without a slash at its end; null: none. */
    String collector;
    /** Null: the token is in the environment, or there is none. */
    String collectorTokenFile;
    /** Certificates (PEM) to trust instead of Java's; null: Java's. */
    String collectorCaFile;
    /** Null: as LocalRoots chooses. */
    String localDir;
    LocalRoots localRoots;
    /** Profiling group, a folder between outputDir and the application's; "": none. */
    String group = "";
    long intervalMilliseconds = INTERVAL_MILLISECONDS;
    private long longestMilliseconds;
    /** How long the end of a JVM may take for the last recording. */
    long shutdownMilliseconds;
    /** Spark encrypts what it writes to local disks; the agent cannot, so recordings wait in memory. */
    boolean memoryOnly;
    long localLimitBytes = 1L << 30;
    long memoryLimitBytes = 128L << 20;
    /** Recordings that only the JDK's tools and ours read; off with other profilers' names, whose files other tools
     * may read. */
    boolean compact;
    boolean compress;
    /** How often the control file is looked at; 0: never. */
    long controlMilliseconds = 10_000;
    boolean python = true;
    int pythonRate = 100;
    /** Whether job descriptions, which are often SQL text, are recorded. */
    boolean descriptions = true;
    /** Whether threads of the driver are tagged with SQL executions. */
    boolean driverTags = true;
    Redaction redaction;
    /** How often the driver joins the recordings that were shipped; 0: never. */
    long joinMilliseconds = 3_600_000;
    /** What the driver deletes of its group: what is older, or more; Long.MAX_VALUE: nothing. */
    long keepMilliseconds = Long.MAX_VALUE;
    long keepBytes = Long.MAX_VALUE;
    /** Of this application. */
    long keepApplicationBytes = Long.MAX_VALUE;
    /** What is to be said to the user but is no reason to stop. */
    final List<String> warnings = new ArrayList<>();

    private Settings() {
    }

    private static Set<String> names(String... names) {
        Set<String> set = new TreeSet<>();
        Collections.addAll(set, names);
        return set;
    }

    /**
     * Reads the settings of a driver or an executor.
     *
     * @param wanted the dialect of the plugin class that was named
     * @param conf all of Spark's keys
     */
    static Settings read(Dialect wanted, Map<String, String> conf, Map<String, String> environment, boolean isDriver)
            throws SettingException {
        Settings settings = new Settings();
        SettingReader reader = new SettingReader(conf);
        Map<String, String> variables = variables(conf, environment, isDriver);
        settings.dialect = choose(wanted, conf, variables);
        switch (settings.dialect) {
            case SPARK:
                settings.readSpark(reader);
                break;
            case PROPOSAL:
                settings.readProposal(reader);
                break;
            case CODEGURU:
                settings.readCodeGuru(variables);
                break;
            default:
                break;
        }
        settings.readOwn(reader);
        settings.localRoots = new LocalRoots(settings.localDir, settings.isShipped(), environment,
                reader.text("spark.local.dir", null), settings.memoryOnly);
        settings.shutdownMilliseconds = reader.milliseconds(PREFIX + "shutdownTimeout",
                shutdownMilliseconds(reader.text("spark.master", ""), environment));
        settings.warnOfUnknown(conf);
        return settings;
    }

    private static Dialect choose(Dialect wanted, Map<String, String> conf, Map<String, String> variables) {
        if (wanted != Dialect.SPARKFLAME) {
            return wanted;
        }
        if (hasPrefix(conf, SPARK_PREFIX)) {
            return Dialect.SPARK;
        }
        if (hasPrefix(conf, PROPOSAL_PREFIX)) {
            return Dialect.PROPOSAL;
        }
        return variables.containsKey("ENABLE_AMAZON_PROFILER") ? Dialect.CODEGURU : Dialect.SPARKFLAME;
    }

    private static boolean hasPrefix(Map<String, String> conf, String prefix) {
        return conf.keySet().stream().anyMatch(key -> key.startsWith(prefix));
    }

    /** The two variables, from the environment or from the keys that set it. */
    private static Map<String, String> variables(Map<String, String> conf, Map<String, String> environment,
            boolean isDriver) {
        String[] prefixes = isDriver ? new String[] {"spark.yarn.appMasterEnv.", "spark.kubernetes.driverEnv."}
                : new String[] {"spark.executorEnv."};
        Map<String, String> found = new HashMap<>();
        for (String name : new String[] {"ENABLE_AMAZON_PROFILER", "PROFILING_CONTEXT"}) {
            String value = environment.get(name);
            for (String prefix : prefixes) {
                value = value == null ? conf.get(prefix + name) : value;
            }
            if (value != null) {
                found.put(name, value);
            }
        }
        return found;
    }

    private void readSpark(SettingReader reader) throws SettingException {
        driver = reader.flag(SPARK_PREFIX + "driver.enabled", false);
        executor = reader.flag(SPARK_PREFIX + "executor.enabled", false);
        fraction = reader.fraction(SPARK_PREFIX + "executor.fraction", 0.1);
        outputDir = reader.text(SPARK_PREFIX + "dfsDir", null);
        localDir = reader.text(SPARK_PREFIX + "localDir", ".");
        arguments = checkArguments(SPARK_PREFIX + "asyncProfiler.args", reader.text(SPARK_PREFIX + "asyncProfiler.args",
                "event=wall,interval=10ms,alloc=2m,lock=10ms,chunktime=300s"));
        intervalMilliseconds = checkInterval(SPARK_PREFIX + "dfsWriteInterval",
                reader.milliseconds(SPARK_PREFIX + "dfsWriteInterval", intervalMilliseconds));
    }

    private void readProposal(SettingReader reader) throws SettingException {
        driver = false;
        executor = reader.flag(PROPOSAL_PREFIX + "enabled", false);
        fraction = reader.fraction(PROPOSAL_PREFIX + "fraction", 0.1);
        outputDir = reader.text(PROPOSAL_PREFIX + "outputDir", null);
        localDir = reader.text(PROPOSAL_PREFIX + "localDir", ".");
    }

    private void readCodeGuru(Map<String, String> variables) throws SettingException {
        String key = "PROFILING_CONTEXT";
        enabled = FlatJson.unquote(variables.getOrDefault("ENABLE_AMAZON_PROFILER", "false")).equalsIgnoreCase("true");
        Map<String, String> context = FlatJson.parse(key, variables.getOrDefault(key, "{}"));
        driver = SettingReader.parseFlag(key + ".driverEnabled", context.getOrDefault("driverEnabled", "false"));
        executor = SettingReader.parseFlag(key + ".executorEnabled", context.getOrDefault("executorEnabled", "true"));
        fraction = SettingReader.parseFraction(key + ".probability", context.getOrDefault("probability", "1"));
        if (SettingReader.parseFlag(key + ".heapSummaryEnabled", context.getOrDefault("heapSummaryEnabled", "true"))) {
            arguments += ",live";
        }
        group = folderName(context.getOrDefault("profilingGroupName", ""));
        if (enabled && group.isEmpty()) {
            warnings.add(key + " has no profilingGroupName");
        }
    }

    private void readOwn(SettingReader reader) throws SettingException {
        enabled = reader.flag(PREFIX + "enabled", enabled);
        driver = reader.flag(PREFIX + "driver.enabled", driver);
        executor = reader.flag(PREFIX + "executor.enabled", executor);
        fraction = reader.fraction(PREFIX + "executor.fraction", fraction);
        ids = reader.list(PREFIX + "executor.ids");
        hosts = reader.list(PREFIX + "executor.hosts");
        first = reader.count(PREFIX + "executor.first", first, 0, Integer.MAX_VALUE);
        arguments = checkArguments(PREFIX + "args", reader.text(PREFIX + "args", arguments));
        outputDir = reader.text(PREFIX + "outputDir", outputDir);
        localDir = reader.text(PREFIX + "localDir", localDir);
        if (localDir != null && localDir.indexOf(',') >= 0) {
            throw new SettingException(PREFIX + "localDir", "\"" + localDir + "\" must not have a comma");
        }
        intervalMilliseconds = checkInterval(PREFIX + "interval",
                reader.milliseconds(PREFIX + "interval", intervalMilliseconds));
        boolean grows = !reader.has(PREFIX + "interval") && dialect != Dialect.SPARK && !dialect.writesOneFile();
        longestMilliseconds = checkInterval(PREFIX + "maxInterval", reader.milliseconds(PREFIX + "maxInterval",
                grows ? LONGEST_INTERVAL_MILLISECONDS : intervalMilliseconds));
        group = folderName(reader.text(PREFIX + "group", group));
        memoryOnly = reader.flag("spark.io.encryption.enabled", false) && !reader.flag(PREFIX + "allowUnencrypted", false);
        boolean isMemory = memoryOnly || reader.flag(TMPFS_KEY, false);
        localLimitBytes = reader.bytes(PREFIX + "localLimit",
                isMemory ? memoryOnly ? SHARED_LIMIT_BYTES : TMPFS_LIMIT_BYTES : localLimitBytes);
        memoryLimitBytes = reader.bytes(PREFIX + "memoryLimit", memoryLimitBytes);
        controlMilliseconds = reader.milliseconds(PREFIX + "control", controlMilliseconds);
        descriptions = reader.flag(PREFIX + "descriptions", descriptions);
        driverTags = reader.flag(PREFIX + "driver.tags", driverTags);
        redaction = new Redaction(reader.text("spark.redaction.regex", null),
                reader.text("spark.redaction.string.regex", null));
        readRetention(reader);
        readCollector(reader);
        compact = reader.flag(PREFIX + "compact", !dialect.writesOneFile());
        compress = reader.flag(PREFIX + "compress", compress);
        python = reader.flag(PREFIX + "python.enabled", python);
        pythonRate = reader.count(PREFIX + "python.rate", pythonRate, 1, 1000);
    }

    private void readRetention(SettingReader reader) throws SettingException {
        joinMilliseconds = reader.milliseconds(PREFIX + "join", joinMilliseconds);
        keepMilliseconds = reader.milliseconds(PREFIX + "keep", keepMilliseconds);
        keepBytes = reader.bytes(PREFIX + "keepBytes", keepBytes);
        keepApplicationBytes = reader.bytes(PREFIX + "keepApplicationBytes", keepApplicationBytes);
        if (keepMilliseconds < MIN_KEEP_MILLISECONDS) {
            throw new SettingException(PREFIX + "keep", "must be at least 1h");
        }
    }

    private void readCollector(SettingReader reader) throws SettingException {
        String key = PREFIX + "collector";
        collectorTokenFile = reader.text(key + ".tokenFile", null);
        collectorCaFile = reader.text(key + ".caFile", null);
        String address = reader.text(key, null);
        if (address == null) {
            return;
        }
        collector = address.replaceFirst("/+$", "");
        try {
            URI parts = new URI(collector);
            String scheme = String.valueOf(parts.getScheme());
            if (!scheme.matches("(?i)https?") || parts.getHost() == null || parts.getRawUserInfo() != null
                    || parts.getRawQuery() != null || parts.getRawFragment() != null) {
                throw new SettingException(key, "needs an address such as https://host:4041");
            }
            if (scheme.equalsIgnoreCase("http") && !parts.getHost().matches("localhost|127\\..*|\\[::1\\]")) {
                warnings.add(key + " is not https: recordings and the token travel in clear text");
            }
        } catch (URISyntaxException e) {
            throw new SettingException(key, "needs an address such as https://host:4041");
        }
    }

    /** Whether recordings leave the machine. */
    boolean isShipped() {
        return outputDir != null || collector != null;
    }

    boolean hasRetention() {
        return keepMilliseconds < Long.MAX_VALUE || keepBytes < Long.MAX_VALUE || keepApplicationBytes < Long.MAX_VALUE;
    }

    /** Of a recording, after some time. */
    long longestMilliseconds() {
        return Math.min(Math.max(intervalMilliseconds, longestMilliseconds), Long.MAX_VALUE / 4);
    }

    /** When recordings end; one for each recorder. */
    Schedule schedule() {
        return new Schedule(intervalMilliseconds, longestMilliseconds);
    }

    StageTexts stageTexts() {
        return new StageTexts(redaction, descriptions);
    }

    /** A name that is one folder on any file system. */
    static String folderName(String name) {
        String safe = name.replaceAll("[^A-Za-z0-9._-]", "_").replaceFirst("^\\.", "_");
        return safe.substring(0, Math.min(safe.length(), 100));
    }

    /**
     * What the cluster managers grant, less a margin: a standalone worker kills 10 s after its signal, a pod has 30 s.
     * YARN kills 250 ms after its signal, but executors of a job that ends stop without one.
     */
    private static long shutdownMilliseconds(String master, Map<String, String> environment) {
        boolean isPod = master.startsWith("k8s") || environment.containsKey("KUBERNETES_SERVICE_HOST");
        return isPod ? 20_000 : 8_000;
    }

    static String checkArguments(String key, String value) throws SettingException {
        for (String part : value.split(",")) {
            String name = part.trim().split("=", 2)[0];
            if (names("file", "start", "stop", "resume", "dump", "rotate", "jfr", "loop", "timeout",
                    "log", "labels", "view", "reply", "fdtransfer").contains(name)) {
                throw new SettingException(key, "\"" + part.trim() + "\" is set by the plugin itself");
            }
        }
        return value;
    }

    private static long checkInterval(String key, long milliseconds) throws SettingException {
        if (milliseconds == 0) {
            return Long.MAX_VALUE / 2; // Spark's own: not before the end
        }
        if (milliseconds < 1000) {
            throw new SettingException(key, "must be at least 1s");
        }
        return milliseconds;
    }

    private void warnOfUnknown(Map<String, String> conf) {
        for (String key : new TreeSet<>(conf.keySet())) {
            if (key.startsWith(PREFIX) && !KEYS.contains(key.substring(PREFIX.length()))) {
                warnings.add(key + " is not a key of this version and is ignored");
            }
        }
    }
}
