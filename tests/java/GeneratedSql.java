import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import org.apache.spark.sql.SparkSession;
import org.sparkflame.Agent;

/**
 * Queries for which Spark SQL generates a class each, then some seconds in one method: GeneratedSql QUERIES HOT_MS
 * [LIBRARY COMMAND]. The library executes the command, which starts a recording, before all that. Prints the CPU
 * time of the method's part, and of the process since then: without what the JVM used to start, which nothing
 * records.
 */
public final class GeneratedSql {
    private static final OperatingSystemMXBean SYSTEM = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    public static void main(String[] arguments) {
        int queries = Integer.parseInt(arguments[0]);
        boolean recording = arguments.length > 2;
        if (recording) {
            System.load(arguments[2]);
            Agent.execute(arguments[3]);
        }
        long processBegin = SYSTEM.getProcessCpuTime();
        SparkSession spark = SparkSession.builder().master("local[2]").config("spark.ui.enabled", "false").getOrCreate();
        spark.sparkContext().setLogLevel("ERROR");
        long sum = 0;
        for (int i = 0; i < queries; i++)
            sum += spark.range(0, 20000, 1, 2)
                    .selectExpr("sum((id * " + (i + 2) + " + " + i + ") % " + (i + 7) + ") AS total").first().getLong(0);
        spark.stop();
        long hotNs = Long.parseLong(arguments[1]) * 1000000, begin = ManyStacks.cpu(), now = begin;
        while (now - begin < hotNs) {
            sum += ManyStacks.hot(now, 5000000);
            now = ManyStacks.cpu();
        }
        long processNs = SYSTEM.getProcessCpuTime() - processBegin;
        if (recording)
            Agent.execute("stop");
        System.out.println("queries " + queries + " hot_ns " + (now - begin) + " process_ns " + processNs);
        ManyStacks.sink = sum;
    }
}
