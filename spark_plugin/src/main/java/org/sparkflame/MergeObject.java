package org.sparkflame;

import java.io.Serializable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.fs.FileStatus;

/** A file to be merged. */
final class MergeObject implements Serializable {
    private static final long serialVersionUID = 1;
    private static final Pattern SEQUENCE = Pattern.compile("((?:.*\\.)?)(\\d{1,18})\\.jfr(?:\\.gz|\\.zst|\\.lz4)?");
    private static final Pattern RANGE = Pattern.compile("(\\d{6,18})(?:-(\\d{6,18}))?\\.jfr(?:\\.gz)?");
    final String path;
    final long bytes;

    MergeObject(FileStatus status) {
        this(status.getPath().toString(), status.getLen());
    }

    MergeObject(String path, long bytes) {
        this.path = path;
        this.bytes = bytes;
    }

    String folder() {
        return path.substring(0, path.lastIndexOf('/') + 1);
    }

    String name() {
        return path.substring(path.lastIndexOf('/') + 1);
    }

    /** Equal for the recordings of a process, FOLDER/[NAME.]SEQUENCE.jfr; other files are each of their own. */
    String process() {
        Matcher sequence = SEQUENCE.matcher(name());
        return sequence.matches() ? folder() + sequence.group(1) : path;
    }

    /** In which the process wrote them. */
    long sequence() {
        Matcher sequence = SEQUENCE.matcher(name());
        return sequence.matches() ? Long.parseLong(sequence.group(2)) : 0;
    }

    /** First and last number of a recording that the plugin shipped or joined; else null. */
    long[] range() {
        Matcher range = RANGE.matcher(name());
        String folder = folder();
        String jvm = folder.isEmpty() ? "" : folder.substring(folder.lastIndexOf('/', folder.length() - 2) + 1, folder.length() - 1);
        if (!range.matches() || !(jvm.equals("driver") || jvm.startsWith("exec-"))) {
            return null;
        }
        long first = Long.parseLong(range.group(1));
        long last = range.group(2) == null ? first : Long.parseLong(range.group(2));
        return range.group(2) != null && last <= first ? null : new long[] {first, last};
    }
}
