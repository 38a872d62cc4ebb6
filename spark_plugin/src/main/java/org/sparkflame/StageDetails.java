package org.sparkflame;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.apache.spark.TaskContext;
import org.apache.spark.api.plugin.PluginContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the agent, once for each stage whose tasks run here, what all of them share: job, job group and description. Only
 * the driver knows the job; a thread of its own asks it.
 */
final class StageDetails {
    private static final Logger LOG = LoggerFactory.getLogger("org.sparkflame");
    private static final int KNOWN_LIMIT = 10_000;
    private static final int ATTEMPTS = 6;
    private final PluginContext plugin;
    private final Set<Integer> known = ConcurrentHashMap.newKeySet();
    private final ScheduledThreadPoolExecutor thread;

    StageDetails(PluginContext plugin) {
        this.plugin = plugin;
        thread = new ScheduledThreadPoolExecutor(1, task -> {
            Thread made = new Thread(task, "sparkflame-stages");
            made.setDaemon(true);
            return made;
        });
        thread.setKeepAliveTime(10, TimeUnit.SECONDS);
        thread.allowCoreThreadTimeOut(true);
    }

    /** A task of a stage begins; costs a look-up when the stage is known. */
    void note(TaskContext context) {
        int stage = context.stageId();
        if (known.contains(stage)) {
            return;
        }
        if (known.size() >= KNOWN_LIMIT) {
            known.clear(); // told once more, nothing worse
        }
        known.add(stage);
        String group = context.getLocalProperty("spark.jobGroup.id");
        String description = context.getLocalProperty("spark.job.description");
        thread.execute(() -> describe(stage, group, description, 1));
    }

    /** The driver hears of a job by the same queue as all listeners, maybe later than a task of it begins here. */
    private void describe(int stage, String group, String description, int attempt) {
        try {
            Agent.describe("stage=" + stage, text(null, group, description));
            Object job = plugin.ask(stage);
            if (job != null) {
                Agent.describe("stage=" + stage, text((Integer) job, group, description));
            } else if (attempt < ATTEMPTS) {
                thread.schedule(() -> describe(stage, group, description, attempt + 1), 50L << attempt,
                        TimeUnit.MILLISECONDS);
            }
        } catch (Throwable e) {
            LOG.debug("sparkflame: the job of stage {} is unknown", stage, e);
        }
    }

    static String text(Integer job, String group, String description) {
        Labels labels = new Labels();
        if (job != null) {
            labels.add("job", job);
        }
        return labels.add("group", group).add("description", description).toString();
    }

    void stop() {
        thread.shutdownNow();
    }
}
