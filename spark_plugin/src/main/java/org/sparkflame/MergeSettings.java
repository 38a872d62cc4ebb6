package org.sparkflame;

import java.io.File;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.SparkFiles;
import org.apache.spark.api.java.JavaSparkContext;

/** The arguments of MergeProfiles. */
final class MergeSettings implements Serializable {
    static final String USAGE = "usage: spark-submit --class org.sparkflame.MergeProfiles … sparkflame-plugin.jar [--sparkflame FILE]"
            + " [--task-bytes BYTES] -f FORMAT IN… OUT [-- OPTIONS OF sparkflame merge]";
    private static final long serialVersionUID = 1;
    private static final long DEFAULT_TASK_BYTES = 64L << 20;
    private static final List<String> OURS = Arrays.asList("-o", "--output", "-f", "--format", "--partial", "--tar", "-j", "--threads", "-");
    final List<String> inputs = new ArrayList<>();
    /** For `sparkflame merge`, without those that the job sets. */
    final List<String> options = new ArrayList<>();
    String output;
    String format;
    boolean skipBroken;
    long taskBytes = DEFAULT_TASK_BYTES;
    /** A name without a slash is looked up by each executor, else the file is sent to them. */
    private String command = "sparkflame";

    static MergeSettings read(List<String> arguments) throws SettingException {
        MergeSettings settings = new MergeSettings();
        List<String> operands = new ArrayList<>();
        int end = arguments.indexOf("--");
        for (int i = 0; i < (end < 0 ? arguments.size() : end); i++) {
            String word = arguments.get(i);
            if (!word.startsWith("-")) {
                operands.add(word);
            } else if (i + 1 >= arguments.size()) {
                throw new SettingException(word, "needs a value");
            } else {
                settings.set(word, arguments.get(++i));
            }
        }
        for (String option : end < 0 ? new ArrayList<String>() : arguments.subList(end + 1, arguments.size())) {
            settings.addOption(option);
        }
        settings.setPaths(operands);
        return settings;
    }

    private void set(String option, String value) throws SettingException {
        switch (option) {
        case "-f":
        case "--format":
            format = value;
            break;
        case "--sparkflame":
            command = value;
            break;
        case "--task-bytes":
            taskBytes = bytes(value);
            break;
        default:
            throw new SettingException(option, "no such option; those of sparkflame merge follow after --");
        }
    }

    private static long bytes(String value) throws SettingException {
        try {
            long bytes = Long.parseLong(value);
            if (bytes > 0) {
                return bytes;
            }
        } catch (NumberFormatException e) {
            // said below
        }
        throw new SettingException("--task-bytes", "\"" + value + "\" is not a number of bytes");
    }

    private void addOption(String option) throws SettingException {
        String name = option.startsWith("--") ? option.split("=", 2)[0] : option;
        if (OURS.contains(name)) {
            throw new SettingException(name, "is set by the job");
        }
        skipBroken |= option.equals("--skip-broken");
        options.add(option);
    }

    private void setPaths(List<String> operands) throws SettingException {
        if (operands.size() < 2) {
            throw new SettingException("IN… OUT", "an input and an output are needed");
        }
        if (format == null) {
            throw new SettingException("-f", "no format");
        }
        inputs.addAll(operands.subList(0, operands.size() - 1));
        output = operands.get(operands.size() - 1);
        if (output.endsWith(".gz") && !"pprof".equals(format)) {
            throw new SettingException(output, "the job does not compress its output");
        }
    }

    boolean stitches() {
        return options.contains("--stitch");
    }

    /** All tables, each of which is a file. */
    boolean writesTables() {
        return "parquet".equals(format) && options.stream().noneMatch(option -> option.equals("--table") || option.startsWith("--table="));
    }

    /** Sends the command to executors, if it is a file. */
    void ship(JavaSparkContext context) {
        if (command.contains("/")) {
            context.addFile(command);
        }
    }

    /** Where the command is on this executor. */
    String command() {
        return command.contains("/") ? SparkFiles.get(new File(command).getName()) : command;
    }
}
