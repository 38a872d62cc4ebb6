package org.sparkflame;

import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;
import org.apache.spark.api.plugin.PluginContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * In an executor: asks the driver, on a thread of its own, for the control file and the jobs of stages, and reports the
 * totals: now and then, and before a recording ends.
 */
final class DriverLine {
    private static final Logger LOG = LoggerFactory.getLogger("org.sparkflame");
    private static final double JITTER = 0.2;
    private final PluginContext plugin;
    private final String executor;
    private final StageDetails stages;
    private final JvmTotals totals;
    private final Consumer<String> control;
    private final ScheduledThreadPoolExecutor thread;
    /** As the driver last answered. */
    private long againMilliseconds;
    private ScheduledFuture<?> next;

    DriverLine(PluginContext plugin, StageDetails stages, JvmTotals totals, Consumer<String> control,
            long againMilliseconds) {
        this.plugin = plugin;
        executor = plugin.executorID();
        this.stages = stages;
        this.totals = totals;
        this.control = control;
        this.againMilliseconds = againMilliseconds;
        thread = new ScheduledThreadPoolExecutor(1, task -> {
            Thread made = new Thread(task, "sparkflame-control");
            made.setDaemon(true);
            return made;
        });
        thread.setRemoveOnCancelPolicy(true);
        thread.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    }

    /** Executors that begin together do not ask together. */
    void start() {
        if (againMilliseconds > 0) {
            plan(ThreadLocalRandom.current().nextLong(againMilliseconds));
        }
    }

    private synchronized void plan(long milliseconds) {
        if (!thread.isShutdown()) {
            next = thread.schedule(() -> ask(true), milliseconds, TimeUnit.MILLISECONDS);
        }
    }

    private void ask(boolean withControl) {
        try {
            Question question = new Question(executor).totals(totals.get());
            int[] unknown = stages.unknown();
            if (unknown.length > 0) {
                question.stages(unknown);
            }
            Object answer = plugin.ask(question.message());
            if (answer instanceof Map) {
                take((Map<?, ?>) answer, withControl);
            }
        } catch (Throwable e) {
            LOG.debug("sparkflame: the driver does not answer", e);
        }
        if (againMilliseconds > 0) {
            synchronized (this) {
                if (next != null) {
                    next.cancel(false);
                }
            }
            plan(Schedule.vary(againMilliseconds, JITTER));
        }
    }

    private void take(Map<?, ?> answer, boolean withControl) {
        Long again = Question.get(answer, Question.AGAIN, Long.class);
        againMilliseconds = again == null ? againMilliseconds : again;
        Map<?, ?> jobs = Question.get(answer, Question.JOBS, Map.class);
        if (jobs != null) {
            stages.learn(jobs);
        }
        String text = Question.get(answer, Question.CONTROL, String.class);
        if (withControl && text != null && againMilliseconds > 0) {
            control.accept(text);
        }
    }

    /** A stage is new here; the thread describes it to the agent. */
    void describe(Runnable what) {
        try {
            thread.execute(what);
        } catch (RejectedExecutionException e) {
            LOG.debug("sparkflame: a stage is not described", e);
        }
    }

    /**
     * Asks for jobs that are not known yet, before a recording that has their stages ends; waits at most so long. The
     * control file, which may end that recording, has to wait.
     */
    void hurry(long milliseconds) {
        if (!stages.hasUnknown()) {
            return;
        }
        try {
            Future<?> asked = thread.submit(() -> ask(false));
            asked.get(milliseconds, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException | TimeoutException | RejectedExecutionException e) {
            LOG.debug("sparkflame: jobs of stages are unknown", e);
        }
    }

    synchronized void stop() {
        thread.shutdownNow();
    }
}
