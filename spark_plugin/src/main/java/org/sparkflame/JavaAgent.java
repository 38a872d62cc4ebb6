package org.sparkflame;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.StandardOpenOption;
import java.util.List;

/**
 * For -javaagent, where there are no plugins (Spark before 3.0, other programs) and for users of Uber's profiler: its
 * arguments and its records, and our recording beside them. Tasks are known by the names of Spark's threads. Needs
 * nothing but the JDK; nothing that goes wrong here reaches the program.
 */
public final class JavaAgent {
    private static final long RECORDING_INTERVAL_MILLISECONDS = 30_000;
    private static final long LIMIT_BYTES = 1L << 30;
    private final UberArguments arguments;
    private final UberRecords records;
    private final StackCounts stacks = new StackCounts();
    private LocalFolder folder;
    private boolean toldOfFailure;

    private JavaAgent(UberArguments arguments) {
        this.arguments = arguments;
        records = new UberRecords(arguments);
    }

    public static void premain(String text) {
        try {
            UberArguments arguments = UberArguments.parse(text);
            for (String warning : arguments.warnings) {
                tell(warning);
            }
            if (!arguments.noop) {
                new JavaAgent(arguments).start();
            }
        } catch (Throwable e) {
            tell("off: " + (e instanceof SettingException ? e.getMessage() : e.toString()));
        }
    }

    public static void agentmain(String text) {
        premain(text);
    }

    private static void tell(String what) {
        System.err.println("sparkflame: " + what);
    }

    private void start() throws IOException {
        if (arguments.outputDir != null) {
            Files.createDirectories(new File(arguments.outputDir).toPath());
        }
        if (arguments.recording) {
            startRecording();
        }
        Thread thread = new Thread(this::run, "sparkflame-reporter");
        thread.setDaemon(true);
        thread.start();
        Runtime.getRuntime().addShutdownHook(new Thread(this::finish, "sparkflame-end"));
    }

    /** In numbered, self-contained files, as the plugin writes them. */
    private void startRecording() {
        String root = arguments.outputDir != null ? arguments.outputDir : System.getProperty("java.io.tmpdir");
        String where = arguments.outputDir != null ? root : root + "/" + LocalRoots.folderName();
        try {
            String name = java.lang.management.ManagementFactory.getRuntimeMXBean().getName().split("@")[0];
            LocalFolder wanted = new LocalFolder(new File(root).getAbsoluteFile(), new File(where).getAbsoluteFile(), "",
                    "jvm-" + name, LIMIT_BYTES, "");
            NativeLibrary.load(where, System.getProperty("java.io.tmpdir"), System.getProperty("user.dir"));
            Agent.execute("start,jfr," + arguments.recordingArguments + ",file=" + wanted.next());
            wanted.advance();
            folder = wanted;
            tell("this JVM is profiled (" + arguments.recordingArguments + "), recordings go to " + folder);
        } catch (Throwable e) {
            tell("this JVM is not recorded: " + e);
        }
    }

    private void run() {
        long now = System.currentTimeMillis();
        long report = now;
        long sample = now;
        long rotation = now + RECORDING_INTERVAL_MILLISECONDS;
        write("ProcessInfo", records.processInfo());
        while (true) {
            now = System.currentTimeMillis();
            if (arguments.sampleIntervalMilliseconds > 0 && now >= sample) {
                look();
                sample = now + arguments.sampleIntervalMilliseconds;
            }
            if (now >= report) {
                report();
                report = now + arguments.metricIntervalMilliseconds;
            }
            if (now >= rotation) {
                rotate();
                rotation = now + RECORDING_INTERVAL_MILLISECONDS;
            }
            long until = arguments.sampleIntervalMilliseconds > 0 ? Math.min(report, sample) : report;
            try {
                Thread.sleep(Math.max(1, Math.min(until, rotation) - System.currentTimeMillis()));
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    private synchronized void look() {
        stacks.look();
    }

    private synchronized void report() {
        write("CpuAndMemory", records.cpuAndMemory());
        if (arguments.io) {
            write("IO", records.io());
        }
        if (arguments.threads) {
            write("ThreadInfo", records.threadInfo());
        }
        List<JsonRecord> found = stacks.take(records::common);
        write("Stacktrace", found.toArray(new JsonRecord[0]));
    }

    private synchronized void rotate() {
        if (folder == null) {
            return;
        }
        try {
            Agent.execute("rotate,file=" + folder.next());
            folder.advance();
        } catch (Throwable e) {
            folder.advanceAfterError();
            tellOnce("cannot begin a new recording in " + folder + "; the current one goes on: " + e);
        }
    }

    private void finish() {
        if (arguments.sampleIntervalMilliseconds > 0) {
            look();
        }
        report();
        synchronized (this) {
            try {
                if (folder != null) {
                    Agent.execute("stop");
                }
            } catch (Throwable e) {
                tell("the recording did not end well: " + e);
            }
            folder = null;
        }
    }

    private void write(String kind, JsonRecord... lines) {
        StringBuilder text = new StringBuilder();
        for (JsonRecord line : lines) {
            text.append(arguments.outputDir == null ? "ConsoleOutputReporter - " + kind + ": " : "").append(line).append('\n');
        }
        if (arguments.outputDir == null) {
            System.out.print(text);
        } else if (lines.length > 0) {
            append(new File(arguments.outputDir, kind + ".json"), text.toString());
        }
    }

    /** In one piece, since several JVMs may have the same folder. */
    private void append(File file, String text) {
        try {
            Files.write(file.toPath(), text.getBytes(StandardCharsets.UTF_8), StandardOpenOption.CREATE,
                    StandardOpenOption.APPEND);
        } catch (IOException e) {
            tellOnce("cannot write " + file + ": " + e);
        }
    }

    private void tellOnce(String what) {
        if (!toldOfFailure) {
            tell(what);
        }
        toldOfFailure = true;
    }
}
