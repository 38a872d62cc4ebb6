package org.sparkflame;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/** All recordings of a JVM one after another in one file, as Spark's own profiler leaves it. */
final class HadoopFile implements Shipper {
    private final Path path;
    private final Configuration configuration;
    private FSDataOutputStream bytes;

    HadoopFile(Path path, Configuration configuration) {
        this.path = path;
        this.configuration = configuration;
    }

    @Override
    public void open() throws IOException {
        FileSystem fileSystem = path.getFileSystem(configuration);
        if (!fileSystem.mkdirs(path.getParent())) {
            throw new IOException("the folder " + path.getParent() + " cannot be made");
        }
        bytes = fileSystem.create(path, true);
    }

    /** Flushed, so that readers of the file system see it although the file is still open. */
    @Override
    public void ship(File recording) throws IOException {
        if (bytes == null) {
            open();
        }
        Files.copy(recording.toPath(), bytes);
        bytes.hflush();
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
