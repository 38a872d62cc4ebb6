package org.sparkflame;

import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.SparkPlugin;

/** For spark.plugins: profiles the driver and the executors. docs/PLUGIN.md lists the keys. */
public class SparkflamePlugin implements SparkPlugin {
    private final Dialect dialect;

    public SparkflamePlugin() {
        this(Dialect.SPARKFLAME);
    }

    protected SparkflamePlugin(Dialect dialect) {
        this.dialect = dialect;
    }

    @Override
    public DriverPlugin driverPlugin() {
        return new DriverSide(dialect);
    }

    @Override
    public ExecutorPlugin executorPlugin() {
        return new ExecutorSide(dialect);
    }
}
