package org.sparkflame;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerExecutorRemoved;
import org.apache.spark.scheduler.SparkListenerStageSubmitted;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.scheduler.SparkListenerTaskStart;
import org.apache.spark.scheduler.TaskInfo;

/**
 * In the driver: how long tasks take on each executor, compared with the same stage on all of them. Stages that run on
 * one executor only are left out.
 */
final class ExecutorPace extends SparkListener {
    private static final int STAGE_LIMIT = 20;
    private static final int DURATIONS_LIMIT = 256;
    private static final int LEAST_TASKS = 3;
    private static final int RUNNING_LIMIT = 200_000;
    /** A stage is held up when this share of its tasks is done, and others take this many times their median. */
    private static final double DONE_SHARE = 0.75;
    private static final double STRAGGLING_FACTOR = 1.5;

    /** Finished tasks: how many, and their milliseconds. */
    private static final class Sum {
        private long tasks;
        private double milliseconds;
    }

    private static final class Stage {
        private int tasks;
        private final Sum all = new Sum();
        private final Map<String, Sum> executors = new HashMap<>();
        private final long[] durations = new long[DURATIONS_LIMIT];

        private long median() {
            long[] sorted = Arrays.copyOf(durations, (int) Math.min(all.tasks, DURATIONS_LIMIT));
            Arrays.sort(sorted);
            return sorted.length == 0 ? Long.MAX_VALUE : sorted[sorted.length / 2];
        }
    }

    private static final class Running {
        private int stage;
        private String executor;
        private long since;
    }

    private final Map<Integer, Stage> stages = new LinkedHashMap<Integer, Stage>() {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Integer, Stage> eldest) {
            return size() > STAGE_LIMIT;
        }
    };
    private final Map<Long, Running> running = new LinkedHashMap<Long, Running>() {
        private static final long serialVersionUID = 1;

        /** Spark drops events when its queue is full, also those of ends. */
        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, Running> eldest) {
            return size() > RUNNING_LIMIT;
        }
    };

    @Override
    public synchronized void onStageSubmitted(SparkListenerStageSubmitted submitted) {
        stage(submitted.stageInfo().stageId()).tasks = submitted.stageInfo().numTasks();
    }

    @Override
    public synchronized void onTaskStart(SparkListenerTaskStart start) {
        TaskInfo task = start.taskInfo();
        begin(task.taskId(), start.stageId(), task.executorId(), task.launchTime());
    }

    @Override
    public synchronized void onTaskEnd(SparkListenerTaskEnd end) {
        TaskInfo task = end.taskInfo();
        if (task != null) {
            finish(task.taskId(), end.stageId(), task.executorId(), task.duration(), task.successful());
        }
    }

    @Override
    public synchronized void onExecutorRemoved(SparkListenerExecutorRemoved removed) {
        running.values().removeIf(task -> task.executor.equals(removed.executorId()));
        stages.values().forEach(stage -> stage.executors.remove(removed.executorId()));
    }

    private Stage stage(int number) {
        return stages.computeIfAbsent(number, key -> new Stage());
    }

    synchronized void size(int stage, int tasks) {
        stage(stage).tasks = tasks;
    }

    synchronized void begin(long task, int stage, String executor, long now) {
        Running began = new Running();
        began.stage = stage;
        began.executor = executor;
        began.since = now;
        running.put(task, began);
    }

    synchronized void finish(long task, int stage, String executor, long milliseconds, boolean good) {
        running.remove(task);
        if (!good) {
            return;
        }
        Stage of = stage(stage);
        of.durations[(int) (of.all.tasks % DURATIONS_LIMIT)] = milliseconds;
        for (Sum sum : new Sum[] {of.all, of.executors.computeIfAbsent(executor, id -> new Sum())}) {
            sum.tasks++;
            sum.milliseconds += milliseconds;
        }
    }

    /** The executors whose tasks take longest compared with the mean of the same stages; slowest first. */
    List<String> slowest(int count) {
        Map<String, Double> factors = factors();
        List<String> names = new ArrayList<>(factors.keySet());
        names.sort(Comparator.comparingDouble((String name) -> -factors.get(name)).thenComparing(Comparator.naturalOrder()));
        return names.subList(0, Math.min(count, names.size()));
    }

    /** How many times the mean of the same stages the tasks of each executor take, where it has finished some. */
    private synchronized Map<String, Double> factors() {
        Map<String, Sum> taken = new HashMap<>();
        Map<String, Double> expected = new HashMap<>();
        for (Stage stage : stages.values()) {
            if (stage.executors.size() < 2) {
                continue;
            }
            double mean = stage.all.milliseconds / stage.all.tasks;
            stage.executors.forEach((executor, sum) -> {
                Sum all = taken.computeIfAbsent(executor, id -> new Sum());
                all.tasks += sum.tasks;
                all.milliseconds += sum.milliseconds;
                expected.merge(executor, mean * sum.tasks, Double::sum);
            });
        }
        Map<String, Double> factors = new HashMap<>();
        taken.forEach((executor, sum) -> {
            if (sum.tasks >= LEAST_TASKS) {
                factors.put(executor, sum.milliseconds / Math.max(1e-9, expected.get(executor)));
            }
        });
        return factors;
    }

    /** The executors where a task takes much longer than the other tasks of its stage, most of which are done. */
    synchronized Set<String> straggling(long nowMilliseconds) {
        Map<Integer, Double> limits = new HashMap<>();
        stages.forEach((number, stage) -> {
            if (stage.all.tasks >= Math.max(LEAST_TASKS, DONE_SHARE * stage.tasks)) {
                limits.put(number, STRAGGLING_FACTOR * stage.median());
            }
        });
        Set<String> found = new HashSet<>();
        for (Running task : running.values()) {
            if (nowMilliseconds - task.since > limits.getOrDefault(task.stage, Double.MAX_VALUE)) {
                found.add(task.executor);
            }
        }
        return found;
    }
}
