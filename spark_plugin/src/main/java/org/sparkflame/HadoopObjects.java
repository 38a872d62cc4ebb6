package org.sparkflame;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.util.zip.GZIPOutputStream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/** Each recording as an object of its own in a folder of any Hadoop file system: a temporary name first, then renamed. */
final class HadoopObjects implements Shipper {
    private final Path folder;
    private final Configuration configuration;
    private final boolean compress;
    private FileSystem fileSystem;

    HadoopObjects(Path folder, Configuration configuration, boolean compress) {
        this.folder = folder;
        this.configuration = configuration;
        this.compress = compress;
    }

    @Override
    public void open() throws IOException {
        fileSystem = folder.getFileSystem(configuration);
        if (!fileSystem.mkdirs(folder)) {
            throw new IOException("the folder " + folder + " cannot be made");
        }
    }

    @Override
    public void ship(File recording) throws IOException {
        if (fileSystem == null) {
            open();
        }
        Path target = new Path(folder, recording.getName() + (compress ? ".gz" : ""));
        Path unfinished = new Path(folder, "." + target.getName() + ".unfinished");
        try (OutputStream bytes = open(unfinished)) {
            Files.copy(recording.toPath(), bytes);
        }
        if (!fileSystem.rename(unfinished, target)) {
            throw new IOException(unfinished + " cannot be renamed to " + target.getName());
        }
    }

    private OutputStream open(Path path) throws IOException {
        OutputStream bytes = fileSystem.create(path, true);
        return compress ? new GZIPOutputStream(bytes, 1 << 16) : bytes;
    }

    @Override
    public void close() {
        // The file system is shared with the rest of the JVM.
    }

    @Override
    public String target() {
        return folder.toString();
    }
}
