package org.sparkflame;

import java.util.Collections;
import java.util.Map;
import org.apache.spark.SparkContext;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** In the driver: records it, and decides which executors are recorded. */
final class DriverSide implements DriverPlugin {
    private static final Logger LOG = LoggerFactory.getLogger("org.sparkflame");
    private final Dialect dialect;
    private Settings settings;
    private ExecutorChoice choice;
    private final JobsOfStages jobs = new JobsOfStages();
    private RecorderSwitch recording;

    DriverSide(Dialect dialect) {
        this.dialect = dialect;
    }

    @Override
    public Map<String, String> init(SparkContext context, PluginContext plugin) {
        try {
            settings = RecorderSetup.settings(dialect, plugin.conf(), true);
            if (settings != null) {
                choice = new ExecutorChoice(settings.fraction, settings.first);
                context.addSparkListener(jobs);
                if (settings.enabled && settings.driver) {
                    ExecutionTags.install(context);
                }
            }
        } catch (Throwable e) {
            LOG.warn("sparkflame: the driver is not profiled", e);
        }
        return Collections.emptyMap();
    }

    /** The first call that comes when the application has its id. */
    @Override
    public void registerMetrics(String application, PluginContext plugin) {
        try {
            String master = plugin.conf().get("spark.master", "");
            boolean alone = master.startsWith("local") && !master.startsWith("local-cluster");
            if (settings != null) {
                // Of local-cluster the driver is the ancestor of executors, whose Python workers they sample themselves.
                settings.python = settings.python && alone;
            }
            if (settings != null && settings.enabled) {
                recording = new RecorderSwitch(new RecorderSetup(settings, plugin.conf(), true, "driver"),
                        settings.driver || (alone && settings.executor));
            }
        } catch (Throwable e) {
            LOG.warn("sparkflame: the driver is not profiled", e);
        }
    }

    /** An executor asks by its id whether it is to be recorded, or by the number of a stage for its job. */
    @Override
    public Object receive(Object message) {
        if (message instanceof Integer) {
            return jobs.jobOf((Integer) message);
        }
        return choice != null && message instanceof String && choice.take((String) message);
    }

    @Override
    public void shutdown() {
        if (recording != null) {
            recording.end();
        }
    }
}
