package org.sparkflame;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;

/**
 * A recording in the output folder: one of an executor, 000007.jfr, or several that follow each other without a gap and
 * were joined, 000007-000012.jfr. What lies within another one's range is part of that one.
 */
final class RecordingRange {
    /** How many recordings an object of one level joins to one of the next. */
    static final int FACTOR = 8;
    private static final Pattern NAME = Pattern.compile("(\\d{6,18})(?:-(\\d{6,18}))?(\\.jfr(?:\\.gz)?)");
    private static final Pattern EXECUTOR = Pattern.compile("driver|exec-[A-Za-z0-9._-]+");
    final Path path;
    final long first;
    final long last;
    final String extension;
    final long bytes;
    final long modified;

    private RecordingRange(FileStatus status, long first, long last, String extension) {
        path = status.getPath();
        bytes = status.getLen();
        modified = status.getModificationTime();
        this.first = first;
        this.last = last;
        this.extension = extension;
    }

    /** Null if the name is not one of ours. */
    static RecordingRange of(FileStatus status) {
        Matcher name = NAME.matcher(status.getPath().getName());
        if (!status.isFile() || status.isSymlink() || !name.matches()) {
            return null;
        }
        long first = Long.parseLong(name.group(1));
        long last = name.group(2) == null ? first : Long.parseLong(name.group(2));
        return name.group(2) != null && last <= first ? null : new RecordingRange(status, first, last, name.group(3));
    }

    /** Whether a folder of that name has the recordings of a JVM. */
    static boolean isExecutor(String name) {
        return EXECUTOR.matcher(name).matches();
    }

    /** Of all from this one to that one. */
    String joinedName(RecordingRange end) {
        return String.format(Locale.ROOT, "%06d-%06d%s", first, end.last, extension);
    }

    /** The hidden name of a joined one that is being written. */
    static boolean isUnfinishedJoin(String name) {
        return name.matches("\\.\\d{6,18}-\\d{6,18}\\.jfr(\\.gz)?\\.unfinished");
    }

    /** The hidden name of any that is being written. */
    static boolean isUnfinished(String name) {
        return name.matches("\\.\\d{6,18}(-\\d{6,18})?\\.jfr(\\.gz)?\\.unfinished");
    }

    /** Whether all of that one is part of this one. */
    boolean covers(RecordingRange other) {
        return first <= other.first && other.last <= last && last - first > other.last - other.first
                && extension.equals(other.extension);
    }

    boolean isFollowedBy(RecordingRange next) {
        return next.first == last + 1 && next.extension.equals(extension);
    }

    /** Joined ones are joined with their like, so that each byte is copied few times. */
    int level() {
        int level = 0;
        for (long recordings = last - first + 1; recordings >= FACTOR; recordings /= FACTOR) {
            level++;
        }
        return level;
    }
}
