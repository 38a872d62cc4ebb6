package org.apache.spark.profiler;

import org.sparkflame.Dialect;
import org.sparkflame.SparkflamePlugin;

/** The name of Spark's own profiler, for those who have it in spark.plugins and not on the class path. */
public class ProfilerPlugin extends SparkflamePlugin {
    public ProfilerPlugin() {
        super(Dialect.SPARK);
    }
}
