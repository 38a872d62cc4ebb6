package org.sparkflame;

import java.io.IOException;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryUsage;
import java.lang.management.ThreadMXBean;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The records of Uber's JVM profiler about this process. One thread at a time. */
final class UberRecords {
    private static final String VERSION = "1.0.0";
    private static final long KILO = 1024;
    private static final Redaction REDACTION =
            new Redaction(System.getProperty("spark.redaction.regex"), System.getProperty("spark.redaction.string.regex"));
    private final UberArguments arguments;
    private final String name = ManagementFactory.getRuntimeMXBean().getName();
    private final String uuid = UUID.randomUUID().toString();
    private final String command = System.getProperty("sun.java.command", "");
    private final String host = host();
    private final String application;
    private long threadsStarted;

    UberRecords(UberArguments arguments) {
        this.arguments = arguments;
        application = application();
    }

    private static String host() {
        try {
            return InetAddress.getLocalHost().getHostName();
        } catch (IOException e) {
            return "localhost";
        }
    }

    private String application() {
        String named = arguments.appIdVariable == null ? null : System.getenv(arguments.appIdVariable);
        if (named == null) {
            named = System.getProperty("spark.app.id");
        }
        String all = command + " " + System.getProperty("java.class.path") + " "
                + ManagementFactory.getRuntimeMXBean().getInputArguments();
        Matcher matcher = Pattern.compile("--app-id (\\S+)").matcher(command);
        if (named == null && matcher.find()) {
            named = matcher.group(1);
        }
        matcher = Pattern.compile(arguments.appIdRegex).matcher(all);
        return named == null && matcher.find() ? matcher.group() : named;
    }

    private String role() {
        if (command.contains("CoarseGrainedExecutorBackend") || command.contains("YarnCoarseGrained")) {
            return "executor";
        }
        return command.contains("SparkSubmit") || command.contains("ApplicationMaster") ? "driver" : null;
    }

    /** What every record has besides its time. */
    JsonRecord common() {
        return new JsonRecord().put("name", name).put("host", host).put("processUuid", uuid).put("appId", application)
                .putIfThere("tag", arguments.tag).putIfThere("cluster", arguments.cluster).putIfThere("role", role());
    }

    private JsonRecord begin() {
        return common().put("epochMillis", System.currentTimeMillis());
    }

    JsonRecord cpuAndMemory() {
        com.sun.management.OperatingSystemMXBean system =
                (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        @SuppressWarnings("deprecation") // the newer name came with Java 14
        double systemLoad = system.getSystemCpuLoad();
        MemoryMXBean memory = ManagementFactory.getMemoryMXBean();
        JsonRecord record = begin().put("processCpuLoad", system.getProcessCpuLoad()).put("systemCpuLoad", systemLoad)
                .put("processCpuTime", system.getProcessCpuTime());
        putUsage(record, "heapMemory", memory.getHeapMemoryUsage());
        putUsage(record, "nonHeapMemory", memory.getNonHeapMemoryUsage());
        record.put("gc", collectors()).put("memoryPools", pools()).put("bufferPools", buffers());
        String status = read("/proc/self/status");
        for (String field : new String[] {"VmRSS", "VmHWM", "VmSize", "VmPeak"}) {
            Long kilobytes = number(status, field + ":\\s*(\\d+)");
            record.putIfThere("vm" + field.substring(2), kilobytes == null ? null : kilobytes * KILO);
        }
        return record;
    }

    private static void putUsage(JsonRecord record, String prefix, MemoryUsage usage) {
        record.put(prefix + "TotalUsed", (double) usage.getUsed()).put(prefix + "Committed", (double) usage.getCommitted())
                .put(prefix + "Max", (double) usage.getMax());
    }

    private static List<JsonRecord> collectors() {
        List<JsonRecord> records = new ArrayList<>();
        for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
            records.add(new JsonRecord().put("name", collector.getName())
                    .put("collectionCount", collector.getCollectionCount())
                    .put("collectionTime", collector.getCollectionTime()));
        }
        return records;
    }

    private static List<JsonRecord> pools() {
        List<JsonRecord> records = new ArrayList<>();
        for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) {
            MemoryUsage now = pool.getUsage();
            MemoryUsage peak = pool.getPeakUsage();
            if (now != null && peak != null) {
                records.add(new JsonRecord().put("name", pool.getName()).put("type", pool.getType().toString())
                        .put("usageCommitted", now.getCommitted()).put("usageMax", now.getMax())
                        .put("usageUsed", now.getUsed()).put("peakUsageCommitted", peak.getCommitted())
                        .put("peakUsageMax", peak.getMax()).put("peakUsageUsed", peak.getUsed()));
            }
        }
        return records;
    }

    private static List<JsonRecord> buffers() {
        List<JsonRecord> records = new ArrayList<>();
        for (BufferPoolMXBean pool : ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class)) {
            records.add(new JsonRecord().put("name", pool.getName()).put("count", pool.getCount())
                    .put("memoryUsed", pool.getMemoryUsed()).put("totalCapacity", pool.getTotalCapacity()));
        }
        return records;
    }

    JsonRecord processInfo() {
        String[] words = command.split(" ", 2);
        boolean jar = words[0].endsWith(".jar");
        return begin().put("agentVersion", VERSION).put("appJar", jar ? words[0] : null)
                .put("appClass", jar ? null : words[0]).put("xmxBytes", Runtime.getRuntime().maxMemory())
                .put("jvmInputArguments", REDACTION.ofAll(ManagementFactory.getRuntimeMXBean().getInputArguments()))
                .put("jvmClassPath", System.getProperty("java.class.path"))
                .put("cmdline", REDACTION.ofAll(Arrays.asList(read("/proc/self/cmdline").split("\0"))));
    }

    JsonRecord io() {
        String own = read("/proc/self/io");
        JsonRecord self = new JsonRecord();
        for (String field : new String[] {"rchar", "wchar", "read_bytes", "write_bytes"}) {
            self.putIfThere(field, number(own, "(?m)^" + field + ":\\s*(\\d+)"));
        }
        List<JsonRecord> processors = new ArrayList<>();
        for (String line : read("/proc/stat").split("\n")) {
            String[] words = line.trim().split("\\s+");
            if (words[0].startsWith("cpu") && words.length > 5) {
                processors.add(new JsonRecord().put("cpu", words[0]).put("user", Long.valueOf(words[1]))
                        .put("nice", Long.valueOf(words[2])).put("system", Long.valueOf(words[3]))
                        .put("idle", Long.valueOf(words[4])).put("iowait", Long.valueOf(words[5])));
            }
        }
        return begin().put("self", new JsonRecord().put("io", self)).put("stat", processors);
    }

    JsonRecord threadInfo() {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long started = threads.getTotalStartedThreadCount();
        JsonRecord record = begin().put("totalStartedThreadCount", started).put("newThreadCount", started - threadsStarted)
                .put("liveThreadCount", threads.getThreadCount()).put("peakThreadCount", threads.getPeakThreadCount());
        threadsStarted = started;
        return record;
    }

    private static Long number(String text, String pattern) {
        Matcher matcher = Pattern.compile(pattern).matcher(text);
        return matcher.find() ? Long.valueOf(matcher.group(1)) : null;
    }

    private static String read(String path) {
        try {
            return new String(Files.readAllBytes(Paths.get(path)), StandardCharsets.UTF_8);
        } catch (IOException e) {
            return "";
        }
    }
}
