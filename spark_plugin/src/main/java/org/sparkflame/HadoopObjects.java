package org.sparkflame;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.GZIPOutputStream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;

/**
 * Ships each recording as an object of its own, APPLICATION/EXECUTOR/SEQUENCE.jfr, to any Hadoop file system. Shipping
 * the same recording again replaces the object.
 */
final class HadoopObjects implements Shipper {
    private static final Pattern LOCAL_NAME = Pattern.compile("(.+)\\.(\\d{6,})\\.jfr");
    private static final Pattern CLOSED = Pattern.compile("(?i)file\\s?system (is )?closed|pool shut down");
    private final Path application;
    private final Path own;
    private final boolean compress;
    private final ObjectWriter writer;

    /** Recordings of this JVM go to the folder `executor` of the application's. */
    HadoopObjects(Path application, String executor, Configuration configuration, boolean compress) {
        this.application = application;
        own = new Path(application, executor);
        this.compress = compress;
        writer = new ObjectWriter(application, configuration);
    }

    @Override
    public void open() throws IOException {
        if (!writer.isDirect() && !writer.fileSystem().mkdirs(own)) {
            writer.reopen();
            throw new IOException("cannot create the folder " + own);
        }
    }

    /** A file system that the job has closed, which all of the JVM share, is opened again. */
    @Override
    public void ship(File recording) throws IOException {
        try {
            write(recording);
        } catch (IOException | RuntimeException e) {
            writer.reopen();
            if (!CLOSED.matcher(String.valueOf(e.getMessage())).find()) {
                throw e;
            }
            write(recording);
        }
    }

    private void write(File recording) throws IOException {
        writer.write(target(recording.getName()), bytes -> copy(recording, bytes));
    }

    private Path target(String name) {
        Matcher parts = LOCAL_NAME.matcher(name);
        String end = compress ? ".jfr.gz" : ".jfr";
        return parts.matches() ? new Path(new Path(application, parts.group(1)), parts.group(2) + end)
                : new Path(own, name + (compress ? ".gz" : ""));
    }

    private void copy(File recording, OutputStream bytes) throws IOException {
        if (compress) {
            GZIPOutputStream compressed = new GZIPOutputStream(bytes, 1 << 16);
            Files.copy(recording.toPath(), compressed);
            compressed.finish();
        } else {
            Files.copy(recording.toPath(), bytes);
        }
    }

    @Override
    public void close() {
        // The file system is shared with the rest of the JVM.
    }

    @Override
    public String target() {
        return own.toString();
    }
}
