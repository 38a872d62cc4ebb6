package org.sparkflame;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** All that can be set, read from Spark's configuration and the environment. */
final class Settings {
    static final String PREFIX = "spark.sparkflame.";
    static final String DEFAULT_ARGUMENTS = "event=cpu,interval=10ms,wall=100ms,alloc=2m,lock=10ms";
    private static final String SPARK_PREFIX = "spark.profiler.";
    private static final String PROPOSAL_PREFIX = "spark.executor.profiling.";
    private static final Set<String> KEYS = names("enabled", "driver.enabled", "executor.enabled", "executor.fraction",
            "executor.ids", "executor.hosts", "executor.first", "args", "outputDir", "localDir", "interval",
            "localLimit", "memoryLimit", "compact", "compress", "control", "python.enabled", "python.rate");

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
    String localDir;
    long intervalMilliseconds = 30_000;
    long localLimitBytes = 1L << 30;
    long memoryLimitBytes = 128L << 20;
    /** Recordings that only the JDK's tools and ours read; not for the names of others, whose readers may be others, too. */
    boolean compact;
    boolean compress;
    /** How often the control file is looked at; 0: never. */
    long controlMilliseconds = 10_000;
    boolean python = true;
    int pythonRate = 100;
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
        settings.localDir = "/tmp/sparkflame-" + System.getProperty("user.name", "user");
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
        if (enabled && !context.containsKey("profilingGroupName")) {
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
        if (localDir.indexOf(',') >= 0) {
            throw new SettingException(PREFIX + "localDir", "\"" + localDir + "\" must not have a comma");
        }
        intervalMilliseconds = checkInterval(PREFIX + "interval",
                reader.milliseconds(PREFIX + "interval", intervalMilliseconds));
        localLimitBytes = reader.bytes(PREFIX + "localLimit", localLimitBytes);
        memoryLimitBytes = reader.bytes(PREFIX + "memoryLimit", memoryLimitBytes);
        controlMilliseconds = reader.milliseconds(PREFIX + "control", controlMilliseconds);
        compact = reader.flag(PREFIX + "compact", !dialect.writesOneFile());
        compress = reader.flag(PREFIX + "compress", compress);
        python = reader.flag(PREFIX + "python.enabled", python);
        pythonRate = reader.count(PREFIX + "python.rate", pythonRate, 1, 1000);
    }

    private static String checkArguments(String key, String value) throws SettingException {
        for (String part : value.split(",")) {
            String name = part.trim().split("=", 2)[0];
            if (names("file", "start", "stop", "resume", "dump", "rotate", "jfr", "loop", "timeout").contains(name)) {
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
                warnings.add(key + " is no key of this version and does nothing");
            }
        }
    }
}
