package org.sparkflame;

import com.codahale.metrics.Gauge;
import com.codahale.metrics.MetricRegistry;
import java.util.function.Supplier;

/** What is counted of a JVM, and how Spark's metrics name it. The numbers travel as an array, which Java knows. */
enum Totals {
    SAMPLES("samples"),
    LOST_SAMPLES("lostSamples"),
    OWN_CPU("ownCpuMilliseconds"),
    OBJECTS("shippedObjects"),
    BYTES("shippedBytes"),
    DROPPED("droppedRecordings"),
    LAG("shippingLagMilliseconds"),
    PYTHON("pythonWorkers");

    private final String metric;

    Totals(String metric) {
        this.metric = metric;
    }

    /** Whether it ends with its JVM; the others are counted on. */
    boolean isState() {
        return this == LAG || this == PYTHON;
    }

    long of(long[] values) {
        return ordinal() < values.length ? values[ordinal()] : 0;
    }

    static long[] none() {
        return new long[values().length];
    }

    /** The lag of several JVMs is the longest; all else is their sum. */
    static void add(long[] to, long[] values) {
        for (Totals total : values()) {
            int i = total.ordinal();
            to[i] = total == LAG ? Math.max(to[i], total.of(values)) : to[i] + total.of(values);
        }
    }

    static void register(MetricRegistry registry, Supplier<long[]> values) {
        for (Totals total : values()) {
            registry.register(total.metric, (Gauge<Long>) () -> total.of(values.get()));
        }
    }
}
