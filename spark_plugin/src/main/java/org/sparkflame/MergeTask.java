package org.sparkflame;

import java.io.ByteArrayOutputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.spark.SparkEnv;
import org.apache.spark.deploy.SparkHadoopUtil;

/** What tasks do. Their results depend on their input only, so that one that is lost can be run again. */
final class MergeTask implements Serializable {
    private static final long serialVersionUID = 1;
    /** docs/PARQUET.md */
    private static final List<String> TABLES =
            Arrays.asList("samples", "stack_frames", "frames", "method_costs", "applications", "events");
    private static final long LARGEST_OBJECT = 4L << 30;
    private final MergeSettings settings;

    MergeTask(MergeSettings settings) {
        this.settings = settings;
    }

    private static Configuration configuration() {
        return SparkHadoopUtil.get().newConfiguration(SparkEnv.get().conf());
    }

    private NativeMerge command(String... words) {
        List<String> command = new ArrayList<>(Arrays.asList(settings.command(), "merge", "--skip-broken", "-f", settings.format));
        command.addAll(settings.options);
        command.addAll(Arrays.asList(words));
        return new NativeMerge(command);
    }

    static void copy(InputStream from, OutputStream to) throws IOException {
        byte[] buffer = new byte[1 << 16];
        for (int got = from.read(buffer); got >= 0; got = from.read(buffer)) {
            to.write(buffer, 0, got);
        }
    }

    /* ---- sums ---- */

    /** An object that has gone meanwhile is skipped; other trouble fails the task, which is tried again. */
    private static void send(MergeObject object, Configuration configuration, TarStream tar, List<String> skipped) throws IOException {
        if (object.bytes > LARGEST_OBJECT) {
            skipped.add(object.path + ": is larger than 4 GB");
            return;
        }
        Path path = new Path(object.path);
        InputStream bytes;
        try {
            bytes = path.getFileSystem(configuration).open(path);
        } catch (FileNotFoundException e) {
            skipped.add(object.path + ": does not exist any more");
            return;
        }
        try {
            tar.add(object.path, bytes, object.bytes);
        } finally {
            bytes.close();
        }
    }

    MergePart sumObjects(MergeBatch batch) throws IOException {
        Configuration configuration = configuration();
        List<String> gone = new ArrayList<>();
        ByteArrayOutputStream sum = new ByteArrayOutputStream();
        NativeMerge merge = command("--partial", "--tar", "-");
        merge.run(out -> {
            TarStream tar = new TarStream(out);
            for (MergeObject object : batch.objects) {
                send(object, configuration, tar, gone);
            }
            tar.end();
        }, in -> copy(in, sum));
        gone.addAll(merge.skipped);
        return new MergePart(batch.number, sum.toByteArray(), batch.objects.size(), gone);
    }

    /** A partial sum that cannot be read is no broken object. */
    private static void run(NativeMerge merge, NativeMerge.Source source, NativeMerge.Target target) throws IOException {
        merge.run(source, target);
        if (!merge.skipped.isEmpty()) {
            throw new IOException(merge.skipped.get(0));
        }
    }

    private static void send(List<MergePart> parts, OutputStream out) throws IOException {
        TarStream tar = new TarStream(out);
        for (MergePart part : parts) {
            tar.add("part-" + part.number, part.bytes);
        }
        tar.end();
    }

    private static List<String> skipped(List<MergePart> parts) {
        List<String> skipped = new ArrayList<>();
        parts.forEach(part -> skipped.addAll(part.skipped));
        return skipped;
    }

    private static int objects(List<MergePart> parts) {
        return parts.stream().mapToInt(part -> part.objects).sum();
    }

    MergePart sumParts(List<MergePart> parts) throws IOException {
        int number = parts.get(0).number / MergeProfiles.FAN_IN;
        if (parts.size() == 1) {
            return new MergePart(number, parts.get(0).bytes, parts.get(0).objects, parts.get(0).skipped);
        }
        ByteArrayOutputStream sum = new ByteArrayOutputStream();
        run(command("--partial", "--tar", "-"), out -> send(parts, out), in -> copy(in, sum));
        return new MergePart(number, sum.toByteArray(), objects(parts), skipped(parts));
    }

    /* ---- the output ---- */

    /** Below a folder of this attempt; the driver moves it to its place. */
    MergeOutput.Written write(List<MergePart> parts, String temporary) throws IOException {
        MergeOutput.Attempt attempt = new MergeOutput.Attempt(temporary, configuration());
        if (!settings.writesTables()) {
            attempt.write(MergeOutput.FILE, out -> run(command("--tar", "-"), to -> send(parts, to), from -> copy(from, out)));
            return attempt.written(objects(parts), skipped(parts), false);
        }
        byte[] whole = sumParts(parts).bytes;
        for (String table : TABLES) {
            attempt.write(table + ".parquet", out -> run(command("--table", table, "-"), to -> to.write(whole), from -> copy(from, out)));
        }
        return attempt.written(objects(parts), skipped(parts), true);
    }
}
