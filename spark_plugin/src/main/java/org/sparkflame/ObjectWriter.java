package org.sparkflame;

import java.io.IOException;
import java.io.OutputStream;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FSDataOutputStreamBuilder;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes objects to any Hadoop file system, each whole or not at all. One thread at a time.
 *
 * Where an object appears only when it is complete (S3, GCS), it is written at once; elsewhere under a temporary name,
 * and renamed.
 */
final class ObjectWriter {
    private static final Logger LOG = LoggerFactory.getLogger("org.sparkflame");
    private static final String APPEARS_WHEN_CLOSED = "fs.capability.outputstream.abortable";
    /** Object stores whose clients do not declare it. */
    private static final Set<String> OBJECT_STORES = new HashSet<>(Arrays.asList("gs", "s3"));
    /** S3A, when asked so, does not look for what is there before. */
    private static final String WITHOUT_CHECKS = "fs.s3a.create.performance";
    private final Path folder;
    private final Configuration configuration;
    private FileSystem opened;
    private boolean isDirect;

    /** Writes the contents of an object. */
    interface Contents {
        void write(OutputStream bytes) throws IOException;
    }

    /** For objects below that folder. */
    ObjectWriter(Path folder, Configuration configuration) {
        this.folder = folder;
        this.configuration = configuration;
    }

    FileSystem fileSystem() throws IOException {
        if (opened == null) {
            FileSystem found = folder.getFileSystem(configuration);
            isDirect = OBJECT_STORES.contains(found.getUri().getScheme()) || found.hasPathCapability(folder, APPEARS_WHEN_CLOSED);
            opened = found;
        }
        return opened;
    }

    /** Whether objects appear when they are complete, so that nothing has to be renamed, nor folders to be made. */
    boolean isDirect() throws IOException {
        fileSystem();
        return isDirect;
    }

    /** The file system may have been closed, and is opened again. */
    void reopen() {
        opened = null;
    }

    /** Replaces what is there. What makes a file makes its folder. */
    void write(Path target, Contents contents) throws IOException {
        fileSystem();
        if (isDirect) {
            copy(target, contents);
            return;
        }
        Path unfinished = unfinished(target);
        copy(unfinished, contents);
        if (!rename(unfinished, target)) {
            throw new IOException(unfinished + " cannot be renamed to " + target.getName());
        }
    }

    /** The hidden name under which an object is written. */
    static Path unfinished(Path target) {
        return new Path(target.getParent(), "." + target.getName() + ".unfinished");
    }

    /** The object may be there from an attempt whose answer was lost. */
    private boolean rename(Path unfinished, Path target) throws IOException {
        return opened.rename(unfinished, target) || (opened.delete(target, false) && opened.rename(unfinished, target));
    }

    /** All of it or nothing: a stream that is closed would publish what was written so far. */
    private void copy(Path path, Contents contents) throws IOException {
        FSDataOutputStream bytes = create(path);
        boolean whole = false;
        try {
            contents.write(bytes);
            whole = true;
        } finally {
            if (!whole) {
                discard(bytes, path);
            }
        }
        bytes.close();
    }

    private FSDataOutputStream create(Path path) throws IOException {
        if (isDirect && opened.hasPathCapability(path, WITHOUT_CHECKS)) {
            FSDataOutputStreamBuilder<?, ?> builder = opened.createFile(path).overwrite(true);
            return builder.opt(WITHOUT_CHECKS, true).build();
        }
        return opened.create(path, true);
    }

    private void discard(FSDataOutputStream bytes, Path path) {
        boolean aborted = false;
        try {
            bytes.abort();
            aborted = true;
        } catch (UnsupportedOperationException | LinkageError e) {
            LOG.debug("sparkflame: {} cannot be aborted", path, e);
        }
        try {
            bytes.close();
            if (!aborted) {
                opened.delete(path, false);
            }
        } catch (IOException | RuntimeException e) {
            LOG.debug("sparkflame: {} may be incomplete until it is written again", path, e);
        }
    }
}
