import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.MiniYARNCluster;

/** HDFS and YARN in one process: MiniHadoop FOLDER. Prints "ready" when FOLDER/conf is written; ends with its input. */
public final class MiniHadoop {
    private MiniHadoop() {
    }

    private static Configuration settings(File folder) {
        Configuration conf = new YarnConfiguration();
        conf.set(MiniDFSCluster.HDFS_MINIDFS_BASEDIR, new File(folder, "hdfs").getPath());
        conf.set(YarnConfiguration.RM_SCHEDULER,
                "org.apache.hadoop.yarn.server.resourcemanager.scheduler.fifo.FifoScheduler");
        conf.setInt(YarnConfiguration.RM_SCHEDULER_MINIMUM_ALLOCATION_MB, 128);
        // The disk may be nearly full, and a JVM maps more memory than it uses.
        conf.setBoolean("yarn.nodemanager.disk-health-checker.enable", false);
        conf.setBoolean(YarnConfiguration.NM_VMEM_CHECK_ENABLED, false);
        // Containers resolve the host name in the same way as the cluster.
        conf.set(YarnConfiguration.NM_ENV_WHITELIST, "JAVA_HOME,JAVA_TOOL_OPTIONS");
        return conf;
    }

    /** In both files: clients of YARN read the defaults of YARN after core-site.xml. */
    private static void write(Configuration conf, File folder) throws IOException {
        folder.mkdirs();
        // The cluster uses a class that clients do not have.
        conf.set("net.topology.node.switch.mapping.impl", "org.apache.hadoop.net.ScriptBasedMapping");
        for (String name : new String[] {"core-site.xml", "yarn-site.xml"}) {
            try (OutputStream bytes = Files.newOutputStream(new File(folder, name).toPath())) {
                conf.writeXml(bytes);
            }
        }
    }

    public static void main(String[] arguments) throws Exception {
        File folder = new File(arguments[0]);
        Configuration conf = settings(folder);
        MiniDFSCluster hdfs = new MiniDFSCluster.Builder(conf).numDataNodes(1).build();
        hdfs.waitActive();
        conf.set("fs.defaultFS", hdfs.getURI().toString());
        MiniYARNCluster yarn = new MiniYARNCluster("yarn", 1, 1, 1);
        yarn.init(conf);
        yarn.start();
        yarn.waitForNodeManagersToConnect(600_000);
        write(yarn.getConfig(), new File(folder, "conf"));
        System.out.println("ready " + yarn.getConfig().get("fs.defaultFS"));
        while (System.in.read() >= 0) {
            continue;
        }
        System.exit(0);
    }
}
