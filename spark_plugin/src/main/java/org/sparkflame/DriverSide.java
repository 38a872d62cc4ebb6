package org.sparkflame;

import java.util.Collections;
import java.util.Map;
import org.apache.spark.SparkContext;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** In the driver: records it, decides which executors are recorded, and answers them. */
final class DriverSide implements DriverPlugin {
    private static final Logger LOG = LoggerFactory.getLogger("org.sparkflame");
    private final Dialect dialect;
    private Settings settings;
    private String user;
    private ControlChoice control;
    private volatile DriverAnswers answers;
    private final JobsOfStages jobs = new JobsOfStages();
    private final ExecutorPace pace = new ExecutorPace();
    private final ExecutorTotals totals = new ExecutorTotals();
    private RecorderSwitch recording;
    private ControlWatch watch;
    private Maintenance maintenance;

    DriverSide(Dialect dialect) {
        this.dialect = dialect;
    }

    @Override
    public Map<String, String> init(SparkContext context, PluginContext plugin) {
        try {
            settings = RecorderSetup.settings(dialect, plugin.conf(), true, true);
            if (settings != null) {
                user = context.sparkUser();
                control = new ControlChoice(pace);
                answers = new DriverAnswers(new ExecutorChoice(settings.fraction, settings.first), control, jobs, totals,
                        settings.controlMilliseconds);
                context.addSparkListener(jobs);
                context.addSparkListener(pace);
                context.addSparkListener(control);
                context.addSparkListener(totals);
                if (settings.enabled && settings.driver && settings.driverTags) {
                    ExecutionTags.install(context);
                }
            }
        } catch (Throwable e) {
            LOG.warn("sparkflame: the driver is not profiled", e);
        }
        return user == null ? Collections.emptyMap() : Collections.singletonMap("user", user);
    }

    /** The first call that comes when the application has its id. */
    @Override
    public void registerMetrics(String application, PluginContext plugin) {
        try {
            String master = plugin.conf().get("spark.master", "");
            boolean alone = master.startsWith("local") && !master.startsWith("local-cluster");
            if (settings != null) {
                // With local-cluster the driver is an ancestor of the executors, which sample their Python workers.
                settings.python = settings.python && alone;
            }
            if (settings != null && settings.enabled) {
                RecorderSetup setup = new RecorderSetup(settings, plugin.conf(), true, "driver", user);
                recording = new RecorderSwitch(setup, settings.driver || (alone && settings.executor));
                watch = new ControlWatch(setup, control, recording);
                maintenance = setup.maintenance();
                Totals.register(plugin.metricRegistry(), () -> totals.sum(setup.totals().get()));
            }
        } catch (Throwable e) {
            LOG.warn("sparkflame: the driver is not profiled", e);
        }
    }

    /** What is thrown here, or returned, must be of the JDK: Spark may not know classes of the jar. */
    @Override
    public Object receive(Object message) {
        try {
            return answers == null ? null : answers.answer(message);
        } catch (Throwable e) {
            LOG.debug("sparkflame: an executor has no answer", e);
            return null;
        }
    }

    @Override
    public void shutdown() {
        try {
            if (watch != null) {
                watch.stop();
            }
            if (recording != null) {
                recording.end();
            }
            if (maintenance != null) {
                maintenance.stop();
            }
        } catch (Throwable e) {
            LOG.warn("sparkflame: the last recording may be missing", e);
        }
    }
}
