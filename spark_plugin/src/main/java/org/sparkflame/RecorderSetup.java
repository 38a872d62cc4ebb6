package org.sparkflame;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.spark.SparkConf;
import org.apache.spark.deploy.SparkHadoopUtil;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.Tuple2;

/** From Spark's configuration to a running recorder; logs in one line what is profiled, how, and where it goes. */
final class RecorderSetup {
    private static final Logger LOG = LoggerFactory.getLogger("org.sparkflame");
    /** Of a collector, where the application has none. */
    static final String DEFAULT_GROUP = "default";
    final Settings settings;
    /** "driver" or the executor's number. */
    final String executor;
    private final SparkConf conf;
    private final boolean isDriver;
    private final String application;
    /** [GROUP/]APPLICATION[_ATTEMPT], below outputDir and localDir. */
    private final String subfolder;
    private final String baseName;
    private LocalFolder folder;
    private Configuration configuration;
    private ControlFile controlFile;
    private final String user;
    private final HadoopUser hadoopUser = new HadoopUser();
    private final ShippingTotals shipped = new ShippingTotals();
    private final JvmTotals totals = new JvmTotals(shipped);
    /** Of the dialects that write one. */
    private int files;

    /** `user` who runs the application; null: as the environment says. */
    RecorderSetup(Settings settings, SparkConf conf, boolean isDriver, String executor, String user) {
        this.user = user;
        this.settings = settings;
        this.conf = conf;
        this.isDriver = isDriver;
        this.executor = executor;
        application = conf.get("spark.app.id", "unknown");
        String attempt = conf.get("spark.app.attempt.id", "");
        String own = attempt.isEmpty() ? application : application + "_" + attempt;
        subfolder = settings.group.isEmpty() ? own : settings.group + "/" + own;
        baseName = settings.dialect.baseName(isDriver, executor, conf.get("spark.app.name", "application"));
    }

    static Map<String, String> entries(SparkConf conf) {
        Map<String, String> entries = new HashMap<>();
        for (Tuple2<String, String> entry : conf.getAll()) {
            entries.put(entry._1(), entry._2());
        }
        return entries;
    }

    /** Null, with the reason in the log if that `talks`, when a value is wrong. */
    static Settings settings(Dialect dialect, SparkConf conf, boolean isDriver, boolean talks) {
        try {
            Settings settings = Settings.read(dialect, entries(conf), System.getenv(), isDriver);
            for (String warning : talks ? settings.warnings : Collections.<String>emptyList()) {
                LOG.warn("sparkflame: {}", warning);
            }
            return settings;
        } catch (SettingException e) {
            if (talks) {
                LOG.error("sparkflame: {}. Nothing is profiled.", e.getMessage());
            }
            return null;
        }
    }

    /** For people. */
    String what() {
        return isDriver ? "the driver" : "executor " + executor;
    }

    /** Null if this JVM is already recorded, or cannot be; the reason is logged. */
    Recorder start(String arguments) {
        try {
            Shipping shipping = shipping();
            Recorder recorder = Recorder.start(settings, arguments, labels(), folder(), shipping);
            if (recorder != null) {
                LOG.info("sparkflame: {} is profiled ({}), recordings go {} to {}{}", what(), arguments, settings.schedule(),
                        shipping.target(), shipping.isLocal() ? " on this machine" : "");
            }
            return recorder;
        } catch (IllegalArgumentException e) {
            LOG.error("sparkflame: {}args: {}. Nothing is profiled.", Settings.PREFIX, e.getMessage());
        } catch (Throwable e) {
            LOG.error("sparkflame: {} is not profiled: {}", what(), e.toString());
        }
        return null;
    }

    private synchronized LocalFolder folder() throws IOException {
        if (folder == null) {
            folder = settings.localRoots.open(subfolder, baseName, settings.localLimitBytes, claim());
            if (settings.memoryOnly) {
                LOG.info("sparkflame: spark.io.encryption.enabled: recordings wait in memory, in {}", folder);
            }
        }
        return folder;
    }

    /** What another JVM needs to know to ship what this one leaves; "": nobody can. */
    private String claim() {
        if (!settings.isShipped() || (settings.outputDir != null && settings.dialect.writesOneFile())) {
            return "";
        }
        return settings.collector == null ? settings.outputDir
                : (settings.outputDir == null ? "" : settings.outputDir + " ") + settings.collector + "\n" + collectorQuery();
    }

    private String collectorQuery() {
        return new CollectorQuery().addName("group", settings.group.isEmpty() ? DEFAULT_GROUP : settings.group)
                .addName("application", application).addName("attempt", conf.get("spark.app.attempt.id", ""))
                .addName("executor", executor).addLabel("application_name", applicationName()).addLabel("user", knownUser()).toString();
    }

    /** Nothing is recorded any more. */
    synchronized void cleanUp() {
        if (folder != null) {
            folder.deleteIfEmpty();
        }
    }

    /** Of all samples. */
    private String labels() {
        return labels(application, executor, settings.group, applicationName(), knownUser());
    }

    private String applicationName() {
        return settings.redaction.of(conf.get("spark.app.name", ""));
    }

    private String knownUser() {
        return user != null ? user : System.getenv().getOrDefault("SPARK_USER", System.getProperty("user.name"));
    }

    static String labels(String application, String executor, String group, String name, String user) {
        return new Labels().add("application", application).add("executor", executor).add("profiling_group", group)
                .add("application_name", name).add("user", user).toString();
    }

    JvmTotals totals() {
        return totals;
    }

    /** Its text; "" when there is none. */
    String readControlFile() throws Exception {
        return hadoopUser.run(() -> controlFile().read());
    }

    private ControlFile controlFile() throws IOException {
        if (controlFile == null) {
            Path remote = settings.outputDir == null ? null
                    : new Path(new Path(settings.outputDir, subfolder), Control.FILE_NAME);
            controlFile = new ControlFile(folder().file(Control.FILE_NAME), remote, configuration());
        }
        return controlFile;
    }

    private Shipping shipping() throws IOException {
        List<Destination> destinations = new ArrayList<>();
        if (settings.outputDir != null) {
            destinations.add(outputDir());
        }
        if (settings.collector != null) {
            CollectorServer server = new CollectorServer(settings);
            destinations.add(new Destination(new CollectorShipper(server, collectorQuery()),
                    (relative, query) -> new CollectorShipper(server, query)));
        }
        return new Shipping(folder(), destinations, shipped, hadoopUser);
    }

    private Destination outputDir() {
        if (settings.dialect.writesOneFile()) {
            Path target = new Path(settings.outputDir, subfolder);
            return new Destination(new HadoopFile(() -> nextFile(target), configuration()), null);
        }
        return new Destination(objects(subfolder), (relative, query) -> objects(relative));
    }

    /** Null: nothing is shipped, or to files that grow. */
    Maintenance maintenance() {
        if (settings.outputDir == null || settings.dialect.writesOneFile()
                || (settings.joinMilliseconds == 0 && !settings.hasRetention())) {
            return null;
        }
        return new Maintenance(settings, new Path(settings.outputDir, subfolder), configuration(), hadoopUser);
    }

    private Shipper objects(String relative) {
        return new HadoopObjects(new Path(settings.outputDir, relative), baseName, configuration(), settings.compress);
    }

    /** A closed file cannot be continued, so a later start gets another one. */
    private synchronized Path nextFile(Path target) {
        return new Path(target, baseName + (++files == 1 ? "" : "-" + files) + ".jfr");
    }

    /** Costs ten milliseconds to make. */
    private synchronized Configuration configuration() {
        if (configuration == null) {
            configuration = SparkHadoopUtil.get().newConfiguration(conf);
        }
        return configuration;
    }
}
