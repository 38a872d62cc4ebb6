package org.sparkflame;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * A hidden file in the output folder that says who is changing it. Whoever ends without a word loses it an hour later.
 * Where files cannot be created exclusively, two may hold it for a moment, which is why what they do is harmless then.
 */
final class StoreLease {
    static final long LENGTH_MILLISECONDS = 3_600_000;
    private static final int LIMIT_BYTES = 100;
    private final ObjectWriter store;
    private final Path path;
    private final byte[] own = UUID.randomUUID().toString().getBytes(StandardCharsets.US_ASCII);
    private long takenAt;
    private long takenNanoseconds;
    private long renewedNanoseconds;

    StoreLease(ObjectWriter store, Path path) {
        this.store = store;
        this.path = path;
    }

    /** False: another one's. */
    boolean take() throws IOException {
        FileSystem fileSystem = store.fileSystem();
        FileStatus status = status(fileSystem);
        if (status != null && (System.currentTimeMillis() - status.getModificationTime() < LENGTH_MILLISECONDS || !remove(fileSystem))) {
            return false;
        }
        try (OutputStream bytes = fileSystem.create(path, false)) {
            bytes.write(own);
        } catch (FileAlreadyExistsException | org.apache.hadoop.fs.ParentNotDirectoryException e) {
            return false;
        } catch (IOException e) {
            if (status(fileSystem) != null) {
                return false;
            }
            throw e;
        }
        takenNanoseconds = System.nanoTime();
        renewedNanoseconds = takenNanoseconds;
        status = status(fileSystem);
        takenAt = status == null ? 0 : status.getModificationTime();
        return status != null && isOurs();
    }

    /** One of those who find it too old: renaming succeeds once. */
    private boolean remove(FileSystem fileSystem) throws IOException {
        Path old = new Path(path.getParent(), path.getName() + "." + UUID.randomUUID());
        try {
            return fileSystem.rename(path, old) && fileSystem.delete(old, false);
        } catch (FileNotFoundException e) {
            return false;
        }
    }

    private FileStatus status(FileSystem fileSystem) throws IOException {
        try {
            return fileSystem.getFileStatus(path);
        } catch (FileNotFoundException e) {
            return null;
        }
    }

    /** The time by the store's clock, by which its files are dated. */
    long now() {
        return takenAt + TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - takenNanoseconds);
    }

    /** Whether nobody else has taken it; asked before each change. */
    boolean isOurs() throws IOException {
        byte[] found = new byte[LIMIT_BYTES];
        int size = 0;
        try (InputStream bytes = store.fileSystem().open(path)) {
            for (int got = 0; got >= 0 && size < LIMIT_BYTES; got = bytes.read(found, size, LIMIT_BYTES - size)) {
                size += got;
            }
        } catch (FileNotFoundException e) {
            return false;
        }
        boolean ours = new String(found, 0, size, StandardCharsets.US_ASCII).equals(new String(own, StandardCharsets.US_ASCII));
        if (ours && TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - renewedNanoseconds) > LENGTH_MILLISECONDS / 4) {
            store.write(path, bytes -> bytes.write(own));
            renewedNanoseconds = System.nanoTime();
        }
        return ours;
    }

    void release() throws IOException {
        if (isOurs()) {
            store.fileSystem().delete(path, false);
        }
    }
}
