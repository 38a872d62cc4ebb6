package org.sparkflame;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerJobEnd;
import org.apache.spark.scheduler.SparkListenerJobStart;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.collection.Iterable;
import scala.collection.Iterator;

/**
 * In the driver: the job for which each stage runs. A stage that several jobs need belongs to the first of those that
 * have not ended.
 */
final class JobsOfStages extends SparkListener {
    private static final Logger LOG = LoggerFactory.getLogger("org.sparkflame");
    private static final int STAGE_LIMIT = 100_000;
    private final Set<Integer> running = new HashSet<>();
    private final Map<Integer, Integer> jobs = new LinkedHashMap<Integer, Integer>() {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Integer, Integer> eldest) {
            return size() > STAGE_LIMIT;
        }
    };

    /** Null: not known, or not yet. */
    synchronized Integer jobOf(int stage) {
        return jobs.get(stage);
    }

    @Override
    public void onJobStart(SparkListenerJobStart start) {
        try {
            // The type that this returns is another one in each version of Scala.
            Object stages = SparkListenerJobStart.class.getMethod("stageIds").invoke(start);
            begin(start.jobId(), numbers((Iterable<?>) stages));
        } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
            LOG.debug("sparkflame: the stages of job {} are unknown", start.jobId(), e);
        }
    }

    private static int[] numbers(Iterable<?> stages) {
        List<Integer> numbers = new ArrayList<>();
        for (Iterator<?> i = stages.iterator(); i.hasNext();) {
            numbers.add((Integer) i.next());
        }
        return numbers.stream().mapToInt(Integer::intValue).toArray();
    }

    synchronized void begin(int job, int... stages) {
        running.add(job);
        for (int stage : stages) {
            Integer before = jobs.get(stage);
            if (before == null || !running.contains(before)) {
                jobs.put(stage, job);
            }
        }
    }

    @Override
    public synchronized void onJobEnd(SparkListenerJobEnd end) {
        running.remove(end.jobId());
    }
}
