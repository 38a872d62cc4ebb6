package org.sparkflame;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.Locale;

/** The finished recordings of this JVM on the local disk, oldest first; never more than the limit. */
final class LocalFolder {
    private static final byte[] HEAD = {'F', 'L', 'R', 0};
    private final File folder;
    private final String baseName;
    private final long limitBytes;
    private final Deque<File> finished = new ArrayDeque<>();
    private long finishedBytes;
    private int sequence;
    private long dropped;
    private File current;

    LocalFolder(File folder, String baseName, long limitBytes) throws IOException {
        this.folder = folder;
        this.baseName = baseName;
        this.limitBytes = limitBytes;
        Files.createDirectories(folder.toPath());
    }

    /** Where the next recording goes. */
    File next() {
        folder.mkdirs(); // gone when all was shipped
        return new File(folder, String.format(Locale.ROOT, "%s.%06d.jfr", baseName, sequence + 1));
    }

    /** The recording goes on in next() from now on. */
    void advance() {
        finish();
        current = next();
        sequence++;
    }

    /** After trouble: the recording may have ended although the next one could not be written. */
    void advanceIfBegun() {
        if (next().exists()) {
            advance();
        }
    }

    /** The current recording is complete; what a full disk left without a head is none. */
    void finish() {
        if (current != null && !hasHead(current)) {
            current.delete();
        } else if (current != null) {
            finished.addLast(current);
            finishedBytes += current.length();
        }
        current = null;
        while (finishedBytes > limitBytes && !finished.isEmpty()) {
            dropped++;
            delete();
        }
    }

    private static boolean hasHead(File file) {
        byte[] head = new byte[HEAD.length];
        try (InputStream bytes = Files.newInputStream(file.toPath())) {
            return bytes.read(head) == head.length && Arrays.equals(head, HEAD);
        } catch (IOException e) {
            return false;
        }
    }

    /** The oldest one; null: none. */
    File oldest() {
        return finished.peekFirst();
    }

    /** Deletes the oldest one. */
    void delete() {
        File file = finished.removeFirst();
        finishedBytes -= file.length();
        file.delete();
    }

    /** How many had to go before they were shipped. */
    long dropped() {
        return dropped;
    }

    /** Gone when nothing is left in it, also of other JVMs. */
    void deleteIfEmpty() {
        folder.delete();
    }

    @Override
    public String toString() {
        return folder.getPath();
    }
}
