package org.sparkflame;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.deploy.SparkHadoopUtil;
import scala.Tuple2;

/**
 * Merges recordings on a cluster: `spark-submit --class org.sparkflame.MergeProfiles … sparkflame-plugin.jar …`. Tasks
 * sum up some objects each, by the command `sparkflame merge --partial`; others sum up such sums, and the last one
 * writes the output, with the same bytes as `sparkflame merge` on one machine. See docs/SCALE.md.
 */
public final class MergeProfiles {
    /** How many partial sums a task sums up. */
    static final int FAN_IN = 8;
    private final MergeSettings settings;
    private final JavaSparkContext context;
    private final Configuration configuration;

    private MergeProfiles(MergeSettings settings, JavaSparkContext context) {
        this.settings = settings;
        this.context = context;
        configuration = SparkHadoopUtil.get().newConfiguration(context.getConf());
    }

    private static List<MergePart> listed(MergePart part) {
        return Collections.singletonList(part);
    }

    /** Joins neighbours; which ones does not depend on who is ready first. */
    private static JavaRDD<List<MergePart>> grouped(JavaRDD<MergePart> parts, int groups) {
        return parts.mapToPair(part -> new Tuple2<>(part.number / FAN_IN, part)).groupByKey(groups).map(group -> {
            List<MergePart> members = new ArrayList<>();
            group._2().forEach(members::add);
            members.sort((left, right) -> Integer.compare(left.number, right.number));
            return members;
        });
    }

    private MergeOutput.Written merge(List<MergeBatch> batches, String temporary) {
        MergeTask task = new MergeTask(settings);
        int count = batches.size();
        JavaRDD<MergePart> parts = context.parallelize(batches, count).map(task::sumObjects);
        while (count > FAN_IN) {
            count = (count + FAN_IN - 1) / FAN_IN;
            parts = grouped(parts, count).map(members -> task.sumParts(members));
        }
        JavaRDD<List<MergePart>> last = count == 1 ? parts.map(MergeProfiles::listed) : grouped(parts, 1);
        return last.map(members -> task.write(members, temporary)).collect().get(0);
    }

    private int run() throws IOException {
        List<MergeBatch> batches = MergeListing.batches(configuration, settings);
        MergeOutput output = new MergeOutput(settings.output, configuration);
        String temporary = output.begin(context.sc().applicationId());
        try {
            MergeOutput.Written written = merge(batches, temporary);
            output.commit(written);
            written.skipped.forEach(line -> System.err.println("sparkflame: skipped: " + line));
            System.err.println("sparkflame: " + settings.output + ": " + (written.objects - written.skipped.size()) + " of " + written.objects
                    + " objects in " + batches.size() + (batches.size() == 1 ? " task" : " tasks"));
            return written.skipped.isEmpty() || settings.skipBroken ? 0 : 1;
        } finally {
            output.end();
        }
    }

    /** For programs that have a context: the exit status that the command would have. */
    public static int merge(JavaSparkContext context, List<String> arguments) throws IOException {
        MergeSettings settings;
        try {
            settings = MergeSettings.read(arguments);
        } catch (SettingException e) {
            System.err.println("sparkflame: " + e.getMessage());
            System.err.println(MergeSettings.USAGE);
            return 2;
        }
        settings.ship(context);
        return new MergeProfiles(settings, context).run();
    }

    public static void main(String... arguments) throws Exception {
        int status;
        try (JavaSparkContext context = new JavaSparkContext(new SparkConf().setIfMissing("spark.app.name", "sparkflame merge"))) {
            status = merge(context, Arrays.asList(arguments));
        }
        if (status != 0) {
            System.exit(status);
        }
    }
}
