package org.sparkflame;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The totals of this JVM. Counting the agent's threads costs a read per thread, so that it is done every 30 s. */
final class JvmTotals {
    private static final long RENEWAL_NANOSECONDS = 30_000_000_000L;
    private static final Pattern METRIC = Pattern.compile("(?m)^(\\w+)(?:\\{[^}]*\\})? (\\d+)$");
    /** Of a clock that counts CPU time in /proc; 100 a second on every Linux. */
    private static final long TICK_MILLISECONDS = 10;
    private final ShippingTotals shipping;
    private long[] known = Totals.none();
    private long countedAt;

    JvmTotals(ShippingTotals shipping) {
        this.shipping = shipping;
    }

    /** No older than that, but for what is shipped, which is that of now. */
    synchronized long[] get() {
        if (!Recorder.isTagging()) {
            return Totals.none();
        }
        long now = System.nanoTime();
        if (countedAt == 0 || now - countedAt > RENEWAL_NANOSECONDS) {
            countedAt = now;
            count();
        }
        long[] totals = known.clone();
        totals[Totals.OBJECTS.ordinal()] = shipping.objects.get();
        totals[Totals.BYTES.ordinal()] = shipping.bytes.get();
        totals[Totals.DROPPED.ordinal()] = shipping.dropped.get();
        totals[Totals.LAG.ordinal()] = shipping.lagMilliseconds();
        return totals;
    }

    private void count() {
        try {
            long handlers = countAgent(Agent.execute("metrics"), known);
            long[] processes = countProcesses(new File("/proc/self/task"));
            known[Totals.OWN_CPU.ordinal()] = handlers / 1_000_000 + processes[0];
            known[Totals.PYTHON.ordinal()] = processes[1];
        } catch (IOException | RuntimeException | LinkageError e) {
            // the numbers of before stay
        }
    }

    /** Nanoseconds in handlers; puts samples into `totals`. */
    static long countAgent(String metrics, long[] totals) {
        long lost = 0;
        long handlers = 0;
        for (Matcher matcher = METRIC.matcher(metrics); matcher.find();) {
            long value = Long.parseLong(matcher.group(2));
            switch (matcher.group(1)) {
                case "samples_total":
                    totals[Totals.SAMPLES.ordinal()] = value;
                    break;
                case "samples_skipped_total":
                case "calltracestorage_overflows_total":
                    lost += value;
                    break;
                case "stackwalk_ns_total":
                    handlers = value;
                    break;
                default:
                    break;
            }
        }
        totals[Totals.LOST_SAMPLES.ordinal()] = lost;
        return handlers;
    }

    /** Milliseconds of CPU time of our own threads, and Python processes that children of ours have started. */
    private static long[] countProcesses(File tasks) throws IOException {
        long milliseconds = 0;
        long workers = 0;
        String[] names = tasks.list();
        for (String task : names == null ? new String[0] : names) {
            String stat = read(new File(tasks, task + "/stat"));
            int end = stat.lastIndexOf(')');
            if (end > 0 && stat.substring(0, end).toLowerCase(Locale.ROOT).contains("(sparkflame")) {
                String[] fields = stat.substring(end + 2).split(" ");
                milliseconds += (Long.parseLong(fields[11]) + Long.parseLong(fields[12])) * TICK_MILLISECONDS;
            }
            workers += pythonsBelow(read(new File(tasks, task + "/children")));
        }
        return new long[] {milliseconds, workers};
    }

    private static long pythonsBelow(String children) {
        long count = 0;
        for (String child : children.trim().split(" ")) {
            if (!child.isEmpty() && read(new File("/proc/" + child + "/comm")).startsWith("python")) {
                String own = read(new File("/proc/" + child + "/task/" + child + "/children")).trim();
                count += own.isEmpty() ? 0 : own.split(" ").length;
            }
        }
        return count;
    }

    /** "" if it is gone. */
    private static String read(File file) {
        try {
            return new String(Files.readAllBytes(file.toPath()), StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            return "";
        }
    }
}
