package org.sparkflame;

import java.io.File;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;

/** The control file: on the local disk, else in the output folder. */
final class ControlFile {
    private static final int LIMIT_BYTES = 4096;
    private final File local;
    private final Path remote;
    private final Configuration configuration;

    /** `remote` may be null. */
    ControlFile(File local, Path remote, Configuration configuration) {
        this.local = local;
        this.remote = remote;
        this.configuration = configuration;
    }

    /** Its text; "" when there is none. */
    String read() throws IOException {
        if (local.isFile()) {
            try (InputStream bytes = Files.newInputStream(local.toPath())) {
                return text(bytes);
            }
        }
        if (remote == null) {
            return "";
        }
        try (InputStream bytes = remote.getFileSystem(configuration).open(remote)) {
            return text(bytes);
        } catch (FileNotFoundException e) {
            return "";
        }
    }

    private static String text(InputStream bytes) throws IOException {
        byte[] buffer = new byte[LIMIT_BYTES];
        int size = 0;
        for (int got = 0; got >= 0 && size < LIMIT_BYTES; got = bytes.read(buffer, size, LIMIT_BYTES - size)) {
            size += got;
        }
        return new String(buffer, 0, size, StandardCharsets.UTF_8);
    }
}
