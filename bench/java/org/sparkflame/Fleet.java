package org.sparkflame;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.Arrays;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.concurrent.ThreadLocalRandom;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.StorageStatistics;

/**
 * An hour of an application's executors, in simulated time, with the plugin's own classes. Prints what an executor
 * asks of the file system and of the driver, as this version does and as the first one did, "NAME CALL NUMBER", and
 * the CPU time of the driver's answers. Arguments: FOLDER URI EXECUTORS STAGES BYTES.
 */
public final class Fleet {
    private static final long HOUR = 3_600_000;
    private static final long CONTROL_MILLISECONDS = 10_000;
    private final Path output;
    private final Configuration configuration;
    private final File recording;
    private final int executors;
    private final int stages;
    private final JobsOfStages jobs = new JobsOfStages();
    private final DriverAnswers answers = new DriverAnswers(new ExecutorChoice(1, Integer.MAX_VALUE),
            new ControlChoice(new ExecutorPace()), jobs, new ExecutorTotals(), CONTROL_MILLISECONDS);
    private final Map<String, Long> found = new LinkedHashMap<>();
    private long asked;
    private long answerNanoseconds;

    private Fleet(String... arguments) throws IOException {
        configuration = new Configuration();
        configuration.set("fs.rename.impl", CountedFiles.class.getName());
        configuration.set("fs.store.impl", CountedFiles.class.getName());
        output = new Path(arguments[1]);
        executors = Integer.parseInt(arguments[2]);
        stages = Integer.parseInt(arguments[3]);
        recording = new File(arguments[0]);
        Files.createDirectories(recording.toPath());
        byte[] contents = Arrays.copyOf(new byte[] {'F', 'L', 'R'}, Integer.parseInt(arguments[4]));
        Files.write(Paths.get(arguments[0], "contents"), contents);
        for (int stage = 0; stage < stages; stage++) {
            jobs.begin(stage, stage);
        }
    }

    /** What one executor does next, and when. */
    private final class Client implements Comparable<Client> {
        private final int executor;
        private final Schedule schedule;
        private final HadoopObjects shipper;
        private final boolean polls;
        private long rotation;
        private long poll;
        private int sequence;
        private int asks;

        private Client(int executor, Schedule schedule, Path folder, boolean polls) throws IOException {
            this.executor = executor;
            this.schedule = schedule;
            this.polls = polls;
            shipper = new HadoopObjects(folder, "exec-" + executor, configuration, false);
            shipper.open();
            rotation = schedule.next();
            poll = ThreadLocalRandom.current().nextLong(CONTROL_MILLISECONDS);
        }

        private long next() {
            return Math.min(rotation, poll);
        }

        @Override
        public int compareTo(Client other) {
            return Long.compare(next(), other.next());
        }

        private void act(ControlFile control) throws Exception {
            if (rotation <= poll) {
                ship();
                rotation += schedule.next();
            } else if (polls) {
                poll += ask(executor, asks++ == 0 ? stages : 0);
            } else {
                control.read();
                poll += CONTROL_MILLISECONDS;
            }
        }

        private void ship() throws IOException {
            File file = new File(recording, String.format(Locale.ROOT, "exec-%d.%06d.jfr", executor, ++sequence));
            Files.createSymbolicLink(file.toPath(), Paths.get("contents"));
            shipper.ship(file);
            Files.delete(file.toPath());
        }
    }

    /** Sends a question as Spark does, by Java's serialization, and returns when to ask again. */
    private long ask(int executor, int unknown) throws Exception {
        Question question = new Question(String.valueOf(executor)).totals(Totals.none());
        if (unknown > 0) {
            question.stages(java.util.stream.IntStream.range(0, unknown).toArray());
        }
        byte[] message = bytes(question.message());
        long before = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
        Object answer = answers.answer(object(message));
        byte[] reply = bytes(answer);
        answerNanoseconds += ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - before;
        asked++;
        return Schedule.vary((Long) ((Map<?, ?>) object(reply)).get(Question.AGAIN), 0.2);
    }

    private static byte[] bytes(Object object) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream stream = new ObjectOutputStream(bytes)) {
            stream.writeObject(object);
        }
        return bytes.toByteArray();
    }

    private static Object object(byte[] bytes) throws Exception {
        try (ObjectInputStream stream = new ObjectInputStream(new ByteArrayInputStream(bytes))) {
            return stream.readObject();
        }
    }

    /** The first version renamed everywhere. */
    private void simulate(String folder, Schedule[] schedules, boolean polls) throws Exception {
        PriorityQueue<Client> clients = new PriorityQueue<>();
        Path parent = polls ? output : new Path(output.toString().replaceFirst("^store:", "rename:"));
        Path target = new Path(parent, folder);
        ControlFile control = new ControlFile(new File(recording, "none"), new Path(target, ".control"), configuration);
        for (int executor = 0; executor < executors; executor++) {
            clients.add(new Client(executor, schedules[executor], target, polls));
        }
        while (clients.peek().next() < HOUR) {
            Client client = clients.poll();
            client.act(control);
            clients.add(client);
        }
        for (Client client : clients) {
            client.ship(); // at the end
        }
    }

    private Schedule[] schedules(long first, long longest) {
        Schedule[] all = new Schedule[executors];
        Arrays.setAll(all, i -> new Schedule(first, longest));
        return all;
    }

    /** Of this file system, so far. */
    private Map<String, Long> calls() {
        Map<String, Long> calls = new LinkedHashMap<>();
        for (String name : new String[] {"create", "rename", "open"}) {
            calls.put(name, CountedFiles.CALLS.getOrDefault(name, 0L));
        }
        Iterator<StorageStatistics> all = FileSystem.getGlobalStorageStatistics().iterator();
        while (all.hasNext()) {
            StorageStatistics statistics = all.next();
            for (String name : statistics.getName().startsWith("DFSOps") ? calls.keySet() : new java.util.TreeSet<String>()) {
                Long count = statistics.getLong("op_" + name);
                calls.merge(name, count == null ? 0 : count, Long::sum);
            }
        }
        return calls;
    }

    private void measure(String name, Schedule[] schedules, boolean polls) throws Exception {
        Map<String, Long> before = calls();
        asked = 0;
        answerNanoseconds = 0;
        simulate(name, schedules, polls);
        calls().forEach((call, count) -> print(name, call, (double) (count - before.get(call)) / executors));
        // The first version asked once for itself and once or more for each stage.
        print(name, "ask", polls ? (double) asked / executors : 1 + stages);
        if (polls) {
            print(name, "driver-cpu-s", answerNanoseconds / 1e9);
        }
    }

    private static void print(String name, String call, double number) {
        System.out.printf(Locale.ROOT, "%s %s %.3f%n", name, call, number);
    }

    public static void main(String[] arguments) throws Exception {
        Fleet fleet = new Fleet(arguments);
        fleet.measure("before", fleet.schedules(30_000, 30_000), false);
        Settings settings = Settings.read(Dialect.SPARKFLAME, new java.util.HashMap<>(), new java.util.HashMap<>(), false);
        Schedule[] now = new Schedule[fleet.executors];
        Arrays.setAll(now, i -> settings.schedule());
        fleet.measure("now", now, true);
    }
}
