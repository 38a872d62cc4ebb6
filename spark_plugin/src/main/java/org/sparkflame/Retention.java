package org.sparkflame;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.regex.Pattern;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Deletes what the plugin has shipped to a folder of applications, when it is old or takes too much room, oldest first.
 * Deletes only files that have the names of recordings, where the plugin puts them; folders only when they are empty.
 * One thread at a time.
 */
final class Retention {
    static final String LEASE = ".retention";
    private static final Logger LOG = LoggerFactory.getLogger("org.sparkflame");
    private static final Pattern APPLICATION = Pattern.compile("(application_\\d+_\\d+|app-\\d{14}-\\d{4,}|local-\\d{13,}"
            + "|spark-[0-9a-f]{32}|spark-application-\\d{13,})(_[A-Za-z0-9]+)?");
    private final ObjectWriter store;
    private final Path group;
    private final String own;
    private final long keepMilliseconds;
    private final long keepBytes;
    /** An application whose last recording is younger may run. */
    private final long runsMilliseconds;

    /** What an application has there. */
    private static final class Application {
        private final Path folder;
        private final List<RecordingRange> recordings = new ArrayList<>();
        private long bytes;
        private long newest;

        private Application(Path folder) {
            this.folder = folder;
        }

        private void add(RecordingRange recording) {
            recordings.add(recording);
            bytes += recording.bytes;
            newest = Math.max(newest, recording.modified);
        }
    }

    /**
     * @param group the folder of applications
     * @param own the folder of the application that runs here, which is left alone
     * @param keepMilliseconds Long.MAX_VALUE: for ever
     * @param keepBytes of all applications; Long.MAX_VALUE: no limit
     */
    Retention(ObjectWriter store, Path group, String own, long keepMilliseconds, long keepBytes, long runsMilliseconds) {
        this.store = store;
        this.group = group;
        this.own = own;
        this.keepMilliseconds = keepMilliseconds;
        this.keepBytes = keepBytes;
        this.runsMilliseconds = runsMilliseconds;
    }

    /**
     * At most once an hour for a group, by whichever of its drivers comes first: the lease stays.
     *
     * @return the folders of applications that have ended and are kept
     */
    List<Path> run(BooleanSupplier goesOn) throws IOException {
        StoreLease lease = new StoreLease(store, new Path(group, LEASE));
        List<Path> kept = new ArrayList<>();
        if (!lease.take()) {
            return kept;
        }
        long total = 0;
        List<Application> ended = new ArrayList<>();
        for (FileStatus status : store.fileSystem().listStatus(group)) {
            Application application = APPLICATION.matcher(status.getPath().getName()).matches() ? read(status) : null;
            if (application != null) {
                total += application.bytes;
                boolean mayRun = status.getPath().getName().equals(own) || lease.now() - application.newest < runsMilliseconds;
                if (!mayRun) {
                    ended.add(application);
                }
            }
        }
        ended.sort(Comparator.comparingLong(one -> one.newest));
        for (Application application : ended) {
            boolean isOld = lease.now() - application.newest > keepMilliseconds;
            if (!isOld && total <= keepBytes) {
                kept.add(application.folder);
            } else if (goesOn.getAsBoolean() && lease.isOurs()) {
                delete(application);
                total -= application.bytes;
                LOG.info("sparkflame: the recordings in {} are deleted: {}", application.folder,
                        isOld ? "older than " + Settings.PREFIX + "keep" : "more than " + Settings.PREFIX + "keepBytes");
            }
        }
        return kept;
    }

    /** Null: a folder without recordings, or a link to one. */
    private Application read(FileStatus status) throws IOException {
        Application application = new Application(status.getPath());
        if (isFolder(status)) {
            readRecordings(store, status.getPath()).forEach(application::add);
        }
        return application.recordings.isEmpty() ? null : application;
    }

    private static List<RecordingRange> readRecordings(ObjectWriter store, Path application) throws IOException {
        List<RecordingRange> recordings = new ArrayList<>();
        for (FileStatus folder : store.fileSystem().listStatus(application)) {
            if (!isFolder(folder) || !RecordingRange.isExecutor(folder.getPath().getName())) {
                continue;
            }
            for (FileStatus file : store.fileSystem().listStatus(folder.getPath())) {
                RecordingRange range = RecordingRange.of(file);
                if (range != null) {
                    recordings.add(range);
                }
            }
        }
        return recordings;
    }

    /** Not through a link, which may lead anywhere. */
    private static boolean isFolder(FileStatus status) {
        boolean isLocal = "file".equals(status.getPath().toUri().getScheme());
        return status.isDirectory() && !status.isSymlink()
                && !(isLocal && Files.isSymbolicLink(Paths.get(status.getPath().toUri().getPath())));
    }

    private void delete(Application application) throws IOException {
        FileSystem fileSystem = store.fileSystem();
        for (RecordingRange recording : application.recordings) {
            fileSystem.delete(recording.path, false);
        }
        for (FileStatus entry : fileSystem.listStatus(application.folder)) {
            String name = entry.getPath().getName();
            if (isFolder(entry) && RecordingRange.isExecutor(name)) {
                deleteFolder(entry.getPath());
            } else if (entry.isFile() && (name.equals(Control.FILE_NAME) || name.equals(Joining.LEASE))) {
                fileSystem.delete(entry.getPath(), false);
            }
        }
        deleteIfEmpty(application.folder);
    }

    private void deleteFolder(Path folder) throws IOException {
        for (FileStatus file : store.fileSystem().listStatus(folder)) {
            if (file.isFile() && RecordingRange.isUnfinished(file.getPath().getName())) {
                store.fileSystem().delete(file.getPath(), false);
            }
        }
        deleteIfEmpty(folder);
    }

    private void deleteIfEmpty(Path folder) {
        try {
            store.fileSystem().delete(folder, false);
        } catch (IOException e) {
            LOG.debug("sparkflame: {} has other files", folder, e);
        }
    }

    /** Deletes the oldest recordings of an application until the rest takes at most so many bytes. */
    static int limit(ObjectWriter store, Path application, long keepBytes, BooleanSupplier goesOn) throws IOException {
        List<RecordingRange> recordings = readRecordings(store, application);
        recordings.sort(Comparator.comparingLong(one -> one.modified));
        long total = recordings.stream().mapToLong(one -> one.bytes).sum();
        int deleted = 0;
        for (RecordingRange recording : recordings) {
            if (total <= keepBytes || !goesOn.getAsBoolean()) {
                break;
            }
            total -= recording.bytes;
            deleted += store.fileSystem().delete(recording.path, false) ? 1 : 0;
        }
        return deleted;
    }
}
