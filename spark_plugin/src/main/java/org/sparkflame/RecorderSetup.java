package org.sparkflame;

import java.io.File;
import java.util.HashMap;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.spark.SparkConf;
import org.apache.spark.deploy.SparkHadoopUtil;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.Tuple2;

/** From Spark's configuration to a running recorder; says in one line what is profiled, how, and where it goes. */
final class RecorderSetup {
    private static final Logger LOG = LoggerFactory.getLogger("org.sparkflame");
    final Settings settings;
    /** "driver" or the executor's number. */
    final String executor;
    private final SparkConf conf;
    private final boolean isDriver;
    private final String application;
    private final String subfolder;
    private final String baseName;
    private LocalFolder folder;
    private Configuration configuration;
    private ControlFile controlFile;
    private int starts;

    RecorderSetup(Settings settings, SparkConf conf, boolean isDriver, String executor) {
        this.settings = settings;
        this.conf = conf;
        this.isDriver = isDriver;
        this.executor = executor;
        application = conf.get("spark.app.id", "unknown");
        String attempt = conf.get("spark.app.attempt.id", "");
        subfolder = attempt.isEmpty() ? application : application + "_" + attempt;
        baseName = settings.dialect.baseName(isDriver, executor, conf.get("spark.app.name", "application"));
    }

    static Map<String, String> entries(SparkConf conf) {
        Map<String, String> entries = new HashMap<>();
        for (Tuple2<String, String> entry : conf.getAll()) {
            entries.put(entry._1(), entry._2());
        }
        return entries;
    }

    /** Null, with the reason in the log, when a value is wrong. */
    static Settings settings(Dialect dialect, SparkConf conf, boolean isDriver) {
        try {
            Settings settings = Settings.read(dialect, entries(conf), System.getenv(), isDriver);
            for (String warning : settings.warnings) {
                LOG.warn("sparkflame: {}", warning);
            }
            return settings;
        } catch (SettingException e) {
            LOG.error("sparkflame: {}. Nothing is profiled.", e.getMessage());
            return null;
        }
    }

    /** For people. */
    String what() {
        return isDriver ? "the driver" : "executor " + executor;
    }

    /** Null when this JVM is recorded already, or cannot be; then the log says why. */
    Recorder start(String arguments) {
        try {
            if (folder == null) {
                File local = new File(settings.localDir, subfolder).getAbsoluteFile();
                folder = new LocalFolder(local, baseName, settings.localLimitBytes);
            }
            Shipper shipper = shipper(++starts);
            Recorder recorder = Recorder.start(settings, arguments, labels(application, executor), folder, shipper);
            if (recorder != null) {
                LOG.info("sparkflame: {} is profiled ({}), recordings go every {} s to {}", what(), arguments,
                        settings.intervalMilliseconds / 1000, shipper == null ? folder + " on this machine" : shipper.target());
            }
            return recorder;
        } catch (IllegalArgumentException e) {
            LOG.error("sparkflame: {}args: {}. Nothing is profiled.", Settings.PREFIX, e.getMessage());
        } catch (Throwable e) {
            LOG.error("sparkflame: {} is not profiled: {}", what(), e.toString());
        }
        return null;
    }

    /** Of all samples. */
    static String labels(String application, String executor) {
        return new Labels().add("application", application).add("executor", executor).toString();
    }

    ControlFile controlFile() {
        if (controlFile == null) {
            controlFile = makeControlFile();
        }
        return controlFile;
    }

    private ControlFile makeControlFile() {
        File local = new File(new File(settings.localDir, subfolder), Control.FILE_NAME);
        Path remote = settings.outputDir == null ? null
                : new Path(new Path(settings.outputDir, subfolder), Control.FILE_NAME);
        return new ControlFile(local, remote, configuration());
    }

    /** One file cannot go on where it was closed, so that a later start has another. */
    private Shipper shipper(int start) {
        if (settings.outputDir == null) {
            return null;
        }
        Path target = new Path(settings.outputDir, subfolder);
        if (settings.dialect.writesOneFile()) {
            String name = baseName + (start == 1 ? "" : "-" + start) + ".jfr";
            return new HadoopFile(new Path(target, name), configuration());
        }
        return new HadoopObjects(target, configuration(), settings.compress);
    }

    /** Costs ten milliseconds to make. */
    private synchronized Configuration configuration() {
        if (configuration == null) {
            configuration = SparkHadoopUtil.get().newConfiguration(conf);
        }
        return configuration;
    }
}
