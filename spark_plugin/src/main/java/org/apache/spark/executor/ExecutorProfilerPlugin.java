package org.apache.spark.executor;

import org.sparkflame.Dialect;
import org.sparkflame.SparkflamePlugin;

/** The name in an earlier proposal of Spark's profiler, for those who have it in spark.plugins. */
public class ExecutorProfilerPlugin extends SparkflamePlugin {
    public ExecutorProfilerPlugin() {
        super(Dialect.PROPOSAL);
    }
}
