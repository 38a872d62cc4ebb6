package org.sparkflame;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The argument string of Uber's JVM profiler, "key=value,key=value"; unsupported keys are logged and ignored. */
final class UberArguments {
    private static final Set<String> OTHERS = new HashSet<>(Arrays.asList("configProvider", "configFile",
            "durationProfiling", "argumentProfiling", "enableRolling", "rollingSize"));
    private static final long LEAST_INTERVAL_MILLISECONDS = 50;

    long metricIntervalMilliseconds = 60_000;
    /** 0: no stacks. */
    long sampleIntervalMilliseconds;
    /** Records go to files there; null: to standard output. */
    String outputDir;
    String tag;
    String cluster;
    String appIdVariable;
    String appIdRegex = "application_[\\w_]+";
    boolean io;
    boolean threads;
    boolean noop;
    /** Ours: whether there is a recording beside the records, and of what ('+' stands for a comma). */
    boolean recording = true;
    String recordingArguments = Settings.DEFAULT_ARGUMENTS;
    final List<String> warnings = new ArrayList<>();

    private UberArguments() {
    }

    static UberArguments parse(String text) throws SettingException {
        UberArguments arguments = new UberArguments();
        Map<String, String> values = new LinkedHashMap<>();
        for (String part : (text == null ? "" : text).split(",")) {
            String[] pair = part.trim().split("=", 2);
            if (pair.length == 2) {
                values.put(pair[0].trim(), pair[1].trim());
            } else if (!part.trim().isEmpty()) {
                throw new SettingException(part.trim(), "has no value; write key=value");
            }
        }
        arguments.read(values);
        return arguments;
    }

    private void read(Map<String, String> values) throws SettingException {
        SettingReader reader = new SettingReader(values);
        metricIntervalMilliseconds = interval(values, "metricInterval", metricIntervalMilliseconds);
        sampleIntervalMilliseconds = interval(values, "sampleInterval", 0);
        String reporter = reader.text("reporter", "ConsoleOutputReporter");
        boolean console = reporter.endsWith("ConsoleOutputReporter");
        if (!console && !reporter.endsWith("FileOutputReporter")) {
            warnings.add("reporter " + reporter + " is not supported; records go to files");
        }
        outputDir = console ? null : reader.text("outputDir", System.getProperty("java.io.tmpdir"));
        tag = reader.text("tag", null);
        cluster = reader.text("cluster", null);
        appIdVariable = reader.text("appIdVariable", null);
        appIdRegex = reader.text("appIdRegex", appIdRegex);
        io = reader.flag("ioProfiling", false);
        threads = reader.flag("threadProfiling", false);
        noop = reader.flag("noop", false);
        recording = reader.flag("recording", true);
        recordingArguments = reader.text("recordingArgs", recordingArguments.replace(',', '+')).replace('+', ',');
        for (String key : values.keySet()) {
            if (OTHERS.contains(key)) {
                warnings.add(key + " is ignored");
            }
        }
    }

    private static long interval(Map<String, String> values, String key, long otherwise) throws SettingException {
        String value = values.get(key);
        if (value == null || value.isEmpty()) {
            return otherwise;
        }
        if (!value.matches("\\d{1,12}")) {
            throw new SettingException(key, "\"" + value + "\" is not a number of milliseconds");
        }
        long milliseconds = Long.parseLong(value);
        if (milliseconds != 0 && milliseconds < LEAST_INTERVAL_MILLISECONDS) {
            throw new SettingException(key, "must be at least " + LEAST_INTERVAL_MILLISECONDS);
        }
        return milliseconds == 0 ? otherwise : milliseconds;
    }
}
