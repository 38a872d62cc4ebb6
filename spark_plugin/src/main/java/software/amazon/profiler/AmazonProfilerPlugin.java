package software.amazon.profiler;

import org.sparkflame.Dialect;
import org.sparkflame.SparkflamePlugin;

/** The name of the CodeGuru plugin, for those who have it in spark.plugins. */
public class AmazonProfilerPlugin extends SparkflamePlugin {
    public AmazonProfilerPlugin() {
        super(Dialect.CODEGURU);
    }
}
