package org.sparkflame;

import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A locked file that holds where the recordings of one name in a folder are to be shipped, in its first line, and what
 * else a destination needs to know of them. The system takes the lock from a JVM that ends, however it ends; then
 * another JVM may claim them.
 */
final class LocalClaim implements AutoCloseable {
    private static final int LIMIT_BYTES = 8192;
    private static final String PREFIX = ".";
    private static final String SUFFIX = ".lock";
    private final Path path;
    private final FileChannel channel;
    private final String text;

    private LocalClaim(Path path, FileChannel channel, String text) {
        this.path = path;
        this.channel = channel;
        this.text = text;
    }

    /** Claims what this JVM will record; null where files cannot be locked, and then nobody will claim it. */
    static LocalClaim make(File folder, String baseName, String text) {
        Path path = new File(folder, PREFIX + baseName + SUFFIX).toPath();
        try {
            FileChannel channel = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE,
                    LinkOption.NOFOLLOW_LINKS);
            if (lock(channel)) {
                channel.truncate(0);
                channel.write(ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)), 0);
                return new LocalClaim(path, channel, text);
            }
        } catch (IOException | UnsupportedOperationException e) {
            return null;
        }
        return null;
    }

    /** Claims what a JVM that has ended left; null if it lives or another JVM has claimed it. */
    static LocalClaim take(Path path) {
        try {
            FileChannel channel = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE,
                    LinkOption.NOFOLLOW_LINKS);
            if (lock(channel)) {
                ByteBuffer bytes = ByteBuffer.allocate(LIMIT_BYTES);
                channel.read(bytes, 0);
                return new LocalClaim(path, channel, new String(bytes.array(), 0, bytes.position(), StandardCharsets.UTF_8));
            }
        } catch (IOException | UnsupportedOperationException e) {
            return null;
        }
        return null;
    }

    /** Closes the channel unless it could be locked. */
    private static boolean lock(FileChannel channel) throws IOException {
        FileLock lock = null;
        try {
            lock = channel.tryLock();
        } catch (OverlappingFileLockException e) {
            // another class loader's copy of the plugin holds it
        }
        if (lock == null) {
            channel.close();
        }
        return lock != null;
    }

    static boolean isName(String name) {
        return name.startsWith(PREFIX) && name.endsWith(SUFFIX);
    }

    /** "exec-1" of ".exec-1.lock". */
    static String baseName(String name) {
        return name.substring(PREFIX.length(), name.length() - SUFFIX.length());
    }

    /** As it was when the recordings began; "": they are to stay where they are. */
    String outputDir() {
        return outputDir(text);
    }

    static String outputDir(String text) {
        return text.split("\n", 2)[0];
    }

    /** The lines after that. */
    String details() {
        String[] parts = text.split("\n", 2);
        return parts.length > 1 ? parts[1] : "";
    }

    /** Nothing is left of what it claims. */
    void delete() throws IOException {
        Files.deleteIfExists(path);
        close();
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
