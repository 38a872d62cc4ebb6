package org.sparkflame;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** How often each thread was seen with each stack, as Uber's profiler counts it: all threads, in all states, at
 * safepoints. */
final class StackCounts {
    private static final int DISTINCT_LIMIT = 10_000;
    private static final int DEPTH_LIMIT = 1000;
    private final Map<List<String>, Integer> counts = new HashMap<>();
    private long sinceMilliseconds = System.currentTimeMillis();

    void look() {
        for (ThreadInfo thread : ManagementFactory.getThreadMXBean().dumpAllThreads(false, false)) {
            if (thread == null || thread.getThreadId() == Thread.currentThread().getId()) {
                continue;
            }
            List<String> key = new ArrayList<>();
            key.add(thread.getThreadName());
            key.add(thread.getThreadState().toString());
            for (StackTraceElement frame : thread.getStackTrace()) {
                if (key.size() < DEPTH_LIMIT) {
                    key.add(frame.getClassName() + "." + frame.getMethodName());
                }
            }
            if (counts.size() < DISTINCT_LIMIT || counts.containsKey(key)) {
                counts.merge(key, 1, Integer::sum);
            }
        }
    }

    /** The records since the last call; `common` makes one with what all have. */
    List<JsonRecord> take(java.util.function.Supplier<JsonRecord> common) {
        List<JsonRecord> records = new ArrayList<>();
        long now = System.currentTimeMillis();
        for (Map.Entry<List<String>, Integer> entry : counts.entrySet()) {
            List<String> key = entry.getKey();
            records.add(common.get().put("startEpoch", sinceMilliseconds).put("endEpoch", now)
                    .put("threadName", key.get(0)).put("threadState", key.get(1))
                    .put("stacktrace", key.subList(2, key.size())).put("count", entry.getValue()));
        }
        counts.clear();
        sinceMilliseconds = now;
        return records;
    }
}
