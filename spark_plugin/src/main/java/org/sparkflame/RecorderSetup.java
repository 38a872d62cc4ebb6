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

    private RecorderSetup() {
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

    /** Null when this JVM is recorded already, or cannot be; then the log says why. */
    static Recorder start(Settings settings, SparkConf conf, boolean isDriver, String executor) {
        String what = isDriver ? "the driver" : "executor " + executor;
        try {
            String application = conf.get("spark.app.id", "unknown");
            String attempt = conf.get("spark.app.attempt.id", "");
            String subfolder = attempt.isEmpty() ? application : application + "_" + attempt;
            String baseName = settings.dialect.baseName(isDriver, executor, conf.get("spark.app.name", "application"));
            File local = new File(settings.localDir, subfolder);
            LocalFolder folder = new LocalFolder(local.getAbsoluteFile(), baseName, settings.localLimitBytes);
            Shipper shipper = shipper(settings, conf, subfolder, baseName);
            Recorder recorder = Recorder.start(settings, labels(application, executor), folder, shipper);
            if (recorder != null) {
                LOG.info("sparkflame: {} is profiled ({}), recordings go every {} s to {}", what, settings.arguments,
                        settings.intervalMilliseconds / 1000, shipper == null ? folder + " on this machine" : shipper.target());
            }
            return recorder;
        } catch (IllegalArgumentException e) {
            LOG.error("sparkflame: {}args: {}. Nothing is profiled.", Settings.PREFIX, e.getMessage());
        } catch (Throwable e) {
            LOG.error("sparkflame: {} is not profiled: {}", what, e.toString());
        }
        return null;
    }

    /** Of all samples. */
    static String labels(String application, String executor) {
        return new Labels().add("application", application).add("executor", executor).toString();
    }

    private static Shipper shipper(Settings settings, SparkConf conf, String subfolder, String baseName) {
        if (settings.outputDir == null) {
            return null;
        }
        Path folder = new Path(settings.outputDir, subfolder);
        if (settings.dialect.writesOneFile()) {
            return new HadoopFile(new Path(folder, baseName + ".jfr"), configuration(conf));
        }
        return new HadoopObjects(folder, configuration(conf), settings.compress);
    }

    private static Configuration configuration(SparkConf conf) {
        return SparkHadoopUtil.get().newConfiguration(conf);
    }
}
