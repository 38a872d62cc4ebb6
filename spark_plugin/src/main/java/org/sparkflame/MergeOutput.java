package org.sparkflame;

import java.io.IOException;
import java.io.OutputStream;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.TaskContext;

/**
 * A file or a folder of tables. An attempt of a task writes it below a hidden folder, and the driver, which alone knows
 * the attempt that counts, moves it to its place.
 */
final class MergeOutput {
    /** The name of a single file, while it is written. */
    static final String FILE = "output";
    private final Path path;
    private final FileSystem fileSystem;
    private Path temporary;

    /** What an attempt wrote. */
    static final class Written implements Serializable {
        private static final long serialVersionUID = 1;
        final String folder;
        final boolean isTables;
        final int objects;
        final ArrayList<String> skipped;

        private Written(String folder, boolean isTables, int objects, List<String> skipped) {
            this.folder = folder;
            this.isTables = isTables;
            this.objects = objects;
            this.skipped = new ArrayList<>(skipped);
            this.skipped.sort(null);
        }
    }

    /** Writes the contents of a file. */
    interface Contents {
        void write(OutputStream out) throws IOException;
    }

    /** Of a task that writes. */
    static final class Attempt {
        private final Path folder;
        private final FileSystem fileSystem;

        Attempt(String temporary, Configuration configuration) throws IOException {
            folder = new Path(temporary, Long.toString(TaskContext.get().taskAttemptId()));
            fileSystem = folder.getFileSystem(configuration);
        }

        void write(String name, Contents contents) throws IOException {
            OutputStream out = fileSystem.create(new Path(folder, name), true);
            try {
                contents.write(out);
            } finally {
                out.close(); // what is not whole stays below the hidden folder
            }
        }

        Written written(int objects, List<String> skipped, boolean isTables) {
            return new Written(folder.toString(), isTables, objects, skipped);
        }
    }

    MergeOutput(String path, Configuration configuration) throws IOException {
        Path given = new Path(path);
        fileSystem = given.getFileSystem(configuration);
        this.path = fileSystem.makeQualified(given);
    }

    /** Returns the folder for attempts. */
    String begin(String application) throws IOException {
        temporary = new Path(path.getParent(), "." + path.getName() + ".merge-" + application);
        fileSystem.mkdirs(temporary);
        return temporary.toString();
    }

    private void move(Path from, Path to) throws IOException {
        if (!fileSystem.rename(from, to) && !(fileSystem.delete(to, false) && fileSystem.rename(from, to))) {
            throw new IOException(from + " cannot be renamed to " + to);
        }
    }

    void commit(Written written) throws IOException {
        Path folder = new Path(written.folder);
        if (!written.isTables) {
            if (fileSystem.exists(path) && fileSystem.getFileStatus(path).isDirectory()) {
                throw new IOException(path + " is a folder");
            }
            move(new Path(folder, FILE), path);
            return;
        }
        if (!fileSystem.exists(path)) {
            move(folder, path); // all tables at once
            return;
        }
        for (FileStatus table : fileSystem.listStatus(folder)) {
            move(table.getPath(), new Path(path, table.getPath().getName()));
        }
    }

    void end() throws IOException {
        fileSystem.delete(temporary, true);
    }
}
