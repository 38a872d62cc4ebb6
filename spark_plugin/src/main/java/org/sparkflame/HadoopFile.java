package org.sparkflame;

import java.io.File;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.util.function.Supplier;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.IOUtils;

/**
 * All recordings of a JVM one after another in one file, as Spark's own profiler leaves it.
 *
 * After an error it is not known how much of the last recording arrived. The file's length tells: what is missing is
 * appended, or, where nothing can be appended, the recording is the first of another file. If it was dropped meanwhile,
 * what arrived of it is removed, and the next recording is the first of another file.
 */
final class HadoopFile implements Shipper {
    /** HDFS refuses them as long as it takes the file for open, which may be until this JVM ends. */
    private static final int APPEND_ATTEMPTS = 3;
    private final Supplier<Path> names;
    private final Configuration configuration;
    private boolean opened;
    private Path path;
    private FileSystem fileSystem;
    private FSDataOutputStream bytes;
    /** Bytes of whole recordings in the file. */
    private long shipped;
    /** The last recording after an error. */
    private File cut;
    private int refusedAppends;

    /** `names` gives the name of the first file, and of each that has to follow. */
    HadoopFile(Supplier<Path> names, Configuration configuration) {
        this.names = names;
        this.configuration = configuration;
        path = names.get();
    }

    @Override
    public void open() throws IOException {
        fileSystem = path.getFileSystem(configuration);
        if (!fileSystem.mkdirs(path.getParent())) {
            throw new IOException("cannot create the folder " + path.getParent());
        }
        bytes = fileSystem.create(path, true);
        opened = true;
        shipped = 0;
    }

    /** Flushed, so that readers of the file system see it although the file is still open. */
    @Override
    public void ship(File recording) throws IOException {
        long arrived = bytes == null ? reopen(recording) : 0;
        try {
            if (arrived < recording.length()) {
                append(recording, arrived);
            }
            shipped += recording.length();
        } catch (IOException | RuntimeException e) {
            IOUtils.cleanupWithLogger(null, bytes);
            bytes = null;
            cut = recording;
            throw e;
        }
    }

    private void append(File recording, long from) throws IOException {
        try (InputStream source = Files.newInputStream(recording.toPath())) {
            IOUtils.skipFully(source, from);
            IOUtils.copyBytes(source, bytes, 1 << 16, false);
        }
        bytes.hflush();
    }

    /** Opens the file again; how many bytes of the recording are there already. */
    private long reopen(File recording) throws IOException {
        if (!opened) {
            open();
            return 0;
        }
        long size = recording.equals(cut) ? recording.length() : 0;
        fileSystem = path.getFileSystem(configuration);
        try {
            bytes = fileSystem.append(path);
            refusedAppends = 0;
        } catch (UnsupportedOperationException | FileNotFoundException e) {
            return continueElsewhere(size);
        } catch (IOException e) {
            if (++refusedAppends < APPEND_ATTEMPTS) {
                throw e;
            }
            return continueElsewhere(size);
        }
        long arrived = bytes.getPos() - shipped;
        if (arrived >= 0 && arrived <= size) {
            return arrived;
        }
        IOUtils.cleanupWithLogger(null, bytes);
        bytes = null;
        return continueElsewhere(size);
    }

    /** Nothing can be appended: the recording either arrived as a whole, or, also of size 0, begins another file. */
    private long continueElsewhere(long size) throws IOException {
        long arrived = fileSystem.exists(path) ? fileSystem.getFileStatus(path).getLen() - shipped : 0;
        boolean isWhole = size > 0 && arrived == size;
        if (arrived > 0 && !isWhole) {
            removeCut();
        }
        path = names.get();
        opened = false;
        refusedAppends = 0;
        if (!isWhole) {
            open();
        }
        return isWhole ? size : 0;
    }

    private void removeCut() {
        try {
            fileSystem.truncate(path, shipped);
        } catch (IOException | UnsupportedOperationException e) {
            // what is cut stays at the end of the file, where readers expect it after a crash
        }
    }

    @Override
    public void close() throws IOException {
        if (bytes != null) {
            bytes.close();
        }
    }

    @Override
    public String target() {
        return path.toString();
    }
}
