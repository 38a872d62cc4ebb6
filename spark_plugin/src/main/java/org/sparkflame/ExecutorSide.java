package org.sparkflame;

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
    private final Dialect dialect;
    private RecorderSwitch recording;
    private StageDetails stages;

    ExecutorSide(Dialect dialect) {
        this.dialect = dialect;
    }

    @Override
    public void init(PluginContext plugin, Map<String, String> extra) {
        stages = new StageDetails(plugin);
        try {
            if ("driver".equals(plugin.executorID())) {
                return; // one JVM: the driver's side records it
            }
            Settings settings = RecorderSetup.settings(dialect, plugin.conf(), false);
            if (settings != null && settings.enabled) {
                recording = new RecorderSwitch(new RecorderSetup(settings, plugin.conf(), false, plugin.executorID()),
                        isWanted(settings, plugin));
            }
        } catch (Throwable e) {
            LOG.warn("sparkflame: this executor is not profiled", e);
        }
    }

    private static boolean isWanted(Settings settings, PluginContext plugin) throws Exception {
        Boolean known = ExecutorChoice.decideAlone(settings, plugin.executorID(), HostNames.own());
        return known != null ? known : Boolean.TRUE.equals(plugin.ask(plugin.executorID()));
    }

    @Override
    public void onTaskStart() {
        try {
            TaskContext context = TaskContext.get();
            if (Recorder.isTagging() && context != null) {
                Agent.setTaskTag(TaskTag.of(context));
                stages.note(context);
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
        stages.stop();
        if (recording != null) {
            recording.end();
        }
    }
}
