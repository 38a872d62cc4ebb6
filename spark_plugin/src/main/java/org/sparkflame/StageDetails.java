package org.sparkflame;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.TaskContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * In an executor: gives the agent, once for each stage with tasks here, the labels that these share. Only the driver
 * knows the job, which is asked for with other things, and added later.
 */
final class StageDetails {
    private static final Logger LOG = LoggerFactory.getLogger("org.sparkflame");
    /** Fewer than the agent keeps. */
    private static final int KNOWN_LIMIT = 200;
    private static final int ATTEMPTS = 6;
    private final StageTexts texts;

    /** A stage whose job is not known. */
    private static final class Open {
        private final String text;
        private int attempts;

        private Open(String text) {
            this.text = text;
        }
    }

    private final Map<Integer, Boolean> known = new LinkedHashMap<Integer, Boolean>(16, 0.75f, true) {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Integer, Boolean> eldest) {
            return size() > KNOWN_LIMIT;
        }
    };
    private final TreeMap<Integer, Open> open = new TreeMap<>();

    StageDetails(StageTexts texts) {
        this.texts = texts;
    }

    /** A task of a stage begins; a single look-up if the stage is known. */
    void note(TaskContext context, DriverLine line) {
        int stage = context.stageId();
        synchronized (this) {
            if (known.putIfAbsent(stage, true) != null) {
                return;
            }
        }
        String text = texts.of(context::getLocalProperty);
        synchronized (this) {
            open.put(stage, new Open(text));
            if (open.size() > KNOWN_LIMIT) {
                open.pollFirstEntry();
            }
        }
        line.describe(() -> describe(stage, text));
    }

    private static void describe(int stage, String text) {
        try {
            Agent.describe("stage=" + stage, text);
        } catch (Throwable e) {
            LOG.debug("sparkflame: stage {} is not described", stage, e);
        }
    }

    synchronized boolean hasUnknown() {
        return !open.isEmpty();
    }

    /** Stages whose job is not known; each is given only so often. */
    synchronized int[] unknown() {
        int[] stages = open.keySet().stream().mapToInt(Integer::intValue).toArray();
        open.values().removeIf(one -> ++one.attempts > ATTEMPTS);
        return stages;
    }

    /** The driver learns of a job through the listener queue, possibly after a task of it has begun here. */
    void learn(Map<?, ?> jobs) {
        jobs.forEach((stage, job) -> {
            Open was;
            synchronized (this) {
                was = stage instanceof Integer ? open.remove(stage) : null;
            }
            if (was != null && job instanceof Integer) {
                String text = new Labels().add("job", (Integer) job).toString();
                describe((Integer) stage, was.text.isEmpty() ? text : text + ";" + was.text);
            }
        });
    }
}
