package org.sparkflame;

import java.util.Collections;
import java.util.Map;
import org.apache.spark.TaskContext;
import org.apache.spark.TaskFailedReason;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** In an executor: records it, and tags the threads that run tasks. */
final class ExecutorSide implements ExecutorPlugin {
    private static final Logger LOG = LoggerFactory.getLogger("org.sparkflame");
    private static final long LAST_QUESTION_MILLISECONDS = 500;
    private final Dialect dialect;
    private RecorderSwitch recording;
    private StageDetails stages;
    private DriverLine line;

    ExecutorSide(Dialect dialect) {
        this.dialect = dialect;
    }

    @Override
    public void init(PluginContext plugin, Map<String, String> extra) {
        try {
            // In a JVM of the driver, which its side records, there is no second warning of a wrong value.
            boolean isDriver = "driver".equals(plugin.executorID());
            Settings settings = RecorderSetup.settings(dialect, plugin.conf(), isDriver, !isDriver);
            if (settings == null || !settings.enabled) {
                return;
            }
            stages = new StageDetails(settings.stageTexts());
            RecorderSetup setup = new RecorderSetup(settings, plugin.conf(), false, plugin.executorID(), extra.get("user"));
            line = new DriverLine(plugin, stages, setup.totals(), this::apply, isDriver ? 0 : settings.controlMilliseconds);
            Recorder.beforeEnd(line::hurry);
            if (isDriver) {
                return;
            }
            recording = new RecorderSwitch(setup, isWanted(settings, plugin));
            Totals.register(plugin.metricRegistry(), setup.totals()::get);
            line.start();
        } catch (Throwable e) {
            LOG.warn("sparkflame: this executor is not profiled", e);
        }
    }

    private void apply(String control) {
        if (recording != null) {
            recording.apply(control);
        }
    }

    private static boolean isWanted(Settings settings, PluginContext plugin) throws Exception {
        Boolean known = ExecutorChoice.decideAlone(settings, plugin.executorID(),
                settings.hosts.isEmpty() ? Collections.emptySet() : HostNames.own());
        if (known != null) {
            return known;
        }
        Object answer = plugin.ask(new Question(plugin.executorID()).choice().message());
        return answer instanceof Map && Boolean.TRUE.equals(((Map<?, ?>) answer).get(Question.TAKE));
    }

    @Override
    public void onTaskStart() {
        try {
            TaskContext context = TaskContext.get();
            if (Recorder.isTagging() && context != null && line != null) {
                Agent.setTaskTag(TaskTag.of(context));
                stages.note(context, line);
            }
        } catch (Throwable e) {
            LOG.debug("sparkflame: a task has no tag", e);
        }
    }

    @Override
    public void onTaskSucceeded() {
        endTag();
    }

    @Override
    public void onTaskFailed(TaskFailedReason reason) {
        endTag();
    }

    private static void endTag() {
        try {
            if (Recorder.isTagging()) {
                Agent.setTaskTag(null);
            }
        } catch (Throwable e) {
            LOG.debug("sparkflame: a tag did not end", e);
        }
    }

    @Override
    public void shutdown() {
        try {
            if (recording != null) {
                recording.end();
            }
            if (line != null) {
                line.hurry(LAST_QUESTION_MILLISECONDS); // of the driver's recording, which goes on in local mode
                line.stop();
            }
        } catch (Throwable e) {
            LOG.warn("sparkflame: the last recording may be missing", e);
        }
    }
}
