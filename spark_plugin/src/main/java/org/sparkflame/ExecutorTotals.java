package org.sparkflame;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerExecutorRemoved;

/** In the driver: the totals of all executors, as they last told them. */
final class ExecutorTotals extends SparkListener {
    private static final int REMOVED_LIMIT = 10_000;
    private final Map<String, long[]> living = new HashMap<>();
    /** Whose last message may come late. */
    private final Map<String, Boolean> removed = new LinkedHashMap<String, Boolean>() {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Boolean> eldest) {
            return size() > REMOVED_LIMIT;
        }
    };
    private final long[] ended = Totals.none();

    synchronized void put(String executor, long[] totals) {
        if (!removed.containsKey(executor)) {
            living.put(executor, totals.clone());
        }
    }

    @Override
    public synchronized void onExecutorRemoved(SparkListenerExecutorRemoved event) {
        removed.put(event.executorId(), true);
        long[] last = living.remove(event.executorId());
        for (Totals total : Totals.values()) {
            if (last != null && !total.isState()) {
                ended[total.ordinal()] += total.of(last);
            }
        }
    }

    /** How many have told them and live. */
    synchronized int executors() {
        return living.size();
    }

    /** Of all, and of the driver. */
    synchronized long[] sum(long[] driver) {
        long[] sum = ended.clone();
        Totals.add(sum, driver);
        living.values().forEach(one -> Totals.add(sum, one));
        return sum;
    }
}
