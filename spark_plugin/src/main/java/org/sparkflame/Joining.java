package org.sparkflame;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.zip.GZIPInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Joins the shipped recordings of each executor of an application: 000001.jfr to 000012.jfr become 000001-000012.jfr.
 *
 * The joined one appears complete; then those that it joins are deleted. Readers skip what lies within the range of
 * another one, so nothing is there twice, or missing, at any moment, and whoever comes next goes on where another one
 * was interrupted. One thread at a time.
 */
final class Joining {
    static final String LEASE = ".joining";
    private static final Logger LOG = LoggerFactory.getLogger("org.sparkflame");
    private static final long LIMIT_BYTES = 256L << 20;
    private final ObjectWriter store;
    private final Path application;
    private final BooleanSupplier goesOn;
    /** Cannot be followed by others: a recording that was cut. */
    private final Set<Path> cut = new HashSet<>();
    private StoreLease lease;

    /** @param goesOn asked before each change */
    Joining(ObjectWriter store, Path application, BooleanSupplier goesOn) {
        this.store = store;
        this.application = application;
        this.goesOn = goesOn;
    }

    /** A recording cannot be joined to others. */
    private static final class CutException extends IOException {
        private static final long serialVersionUID = 1;
        private final transient RecordingRange recording;

        private CutException(RecordingRange recording) {
            super(recording.path + " is not whole");
            this.recording = recording;
        }
    }

    /**
     * Joins runs of at least `minimum` recordings.
     *
     * @return how many objects there are fewer
     */
    int join(int minimum) throws IOException {
        int fewer = 0;
        try {
            for (FileStatus folder : store.fileSystem().listStatus(application)) {
                if (folder.isDirectory() && RecordingRange.isExecutor(folder.getPath().getName())) {
                    fewer += joinFolder(folder.getPath(), minimum);
                }
            }
        } finally {
            if (lease != null) {
                lease.release();
                lease = null;
            }
        }
        return fewer;
    }

    /** Taken when there is something to do; false: another one joins, or this one is to stop. */
    private boolean mayChange() throws IOException {
        if (!goesOn.getAsBoolean()) {
            return false;
        }
        if (lease != null) {
            return lease.isOurs();
        }
        StoreLease wanted = new StoreLease(store, new Path(application, LEASE));
        lease = wanted.take() ? wanted : null;
        return lease != null;
    }

    private int joinFolder(Path folder, int minimum) throws IOException {
        List<RecordingRange> all = new ArrayList<>();
        List<Path> unfinished = new ArrayList<>();
        for (FileStatus status : store.fileSystem().listStatus(folder)) {
            RecordingRange range = RecordingRange.of(status);
            if (range != null) {
                all.add(range);
            } else if (status.isFile() && RecordingRange.isUnfinishedJoin(status.getPath().getName())) {
                unfinished.add(status.getPath());
            }
        }
        for (Path path : unfinished) {
            delete(path);
        }
        int fewer = deleteCovered(all);
        for (List<RecordingRange> run : runs(all, minimum)) {
            fewer += joinRun(folder, run);
        }
        return fewer;
    }

    private boolean delete(Path path) throws IOException {
        return mayChange() && store.fileSystem().delete(path, false);
    }

    /** What an interrupted one left: the joined recording is there, and some of its parts. */
    private int deleteCovered(List<RecordingRange> all) throws IOException {
        all.sort(Comparator.<RecordingRange>comparingLong(one -> one.first).thenComparingLong(one -> -one.last));
        RecordingRange cover = null;
        int deleted = 0;
        for (Iterator<RecordingRange> each = all.iterator(); each.hasNext();) {
            RecordingRange range = each.next();
            if (cover != null && cover.covers(range)) {
                deleted += delete(range.path) ? 1 : 0;
                each.remove();
            } else {
                cover = range;
            }
        }
        return deleted;
    }

    /** Runs of recordings of one level that follow each other and can be joined. */
    private List<List<RecordingRange>> runs(List<RecordingRange> all, int minimum) {
        List<List<RecordingRange>> runs = new ArrayList<>();
        List<RecordingRange> run = new ArrayList<>();
        long bytes = 0;
        for (RecordingRange next : all) {
            boolean fits = !run.isEmpty() && run.get(run.size() - 1).isFollowedBy(next)
                    && (minimum < RecordingRange.FACTOR || run.get(0).level() == next.level())
                    && bytes + next.bytes <= LIMIT_BYTES;
            if (!fits || cut.contains(next.path)) {
                addIfLong(runs, run, minimum);
                run = new ArrayList<>();
                bytes = 0;
            }
            if (!cut.contains(next.path)) {
                run.add(next);
                bytes += next.bytes;
            }
        }
        addIfLong(runs, run, minimum);
        return runs;
    }

    private static void addIfLong(List<List<RecordingRange>> runs, List<RecordingRange> run, int minimum) {
        if (run.size() >= minimum) {
            runs.add(run);
        }
    }

    private int joinRun(Path folder, List<RecordingRange> run) throws IOException {
        if (!mayChange()) {
            return 0;
        }
        Path target = new Path(folder, run.get(0).joinedName(run.get(run.size() - 1)));
        try {
            store.write(target, bytes -> {
                for (RecordingRange part : run) {
                    copy(part, bytes);
                }
                if (!mayChange()) {
                    throw new IOException("another one joins");
                }
            });
        } catch (CutException e) {
            LOG.debug("sparkflame: {}", e.getMessage());
            cut.add(e.recording.path);
            return 0;
        }
        int deleted = 0;
        for (RecordingRange part : run) {
            deleted += delete(part.path) ? 1 : 0;
        }
        return deleted - 1;
    }

    /** Copies all bytes that are read through it. */
    private static final class Copied extends FilterInputStream {
        private final OutputStream to;
        private long count;

        private Copied(InputStream from, OutputStream to) {
            super(from);
            this.to = to;
        }

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
        }

        @Override
        public int read(byte[] bytes, int offset, int size) throws IOException {
            int got = in.read(bytes, offset, size);
            if (got > 0) {
                to.write(bytes, offset, got);
                count += got;
            }
            return got;
        }

        /** A reader of gzip asks whether another member follows; it finds out by reading. */
        @Override
        public int available() {
            return 1;
        }
    }

    private void copy(RecordingRange part, OutputStream to) throws IOException {
        FileSystem fileSystem = store.fileSystem();
        JfrChunks chunks = new JfrChunks();
        try (InputStream bytes = fileSystem.open(part.path)) {
            Copied copied = new Copied(bytes, to);
            InputStream plain = part.extension.endsWith(".gz") ? new GZIPInputStream(copied) : copied;
            byte[] buffer = new byte[1 << 16];
            for (int got = plain.read(buffer); got >= 0; got = plain.read(buffer)) {
                chunks.add(buffer, got);
            }
            if (copied.count != part.bytes || !chunks.isWhole()) {
                throw new CutException(part);
            }
        } catch (java.util.zip.ZipException | java.io.EOFException e) {
            throw new CutException(part);
        }
    }
}
