package org.sparkflame;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Predicate;

/** The finished recordings of this JVM on the local disk, oldest first; never more than the limit. Any thread. */
final class LocalFolder {
    private static final byte[] HEAD = {'F', 'L', 'R', 0};
    private final File root;
    private final File base;
    private final File folder;
    private final String baseName;
    private final String outputDir;
    private final long limitBytes;
    /** Their sizes, oldest first. */
    private final Map<File, Long> finished = new LinkedHashMap<>();
    private long finishedBytes;
    private int sequence;
    private long dropped;
    private File current;
    private LocalClaim claim;

    /**
     * The folder of an application, which is made for this user alone.
     *
     * @param root exists already, or is made
     * @param base `root`, or a folder below it that is made
     * @param application name of the folder below that; "" for none
     * @param outputDir where recordings are to be shipped, also by others if this JVM cannot, and further lines that
     *     describe them (LocalClaim); "" to keep them
     */
    LocalFolder(File root, File base, String application, String baseName, long limitBytes, String outputDir)
            throws IOException {
        this.root = root;
        this.base = base;
        folder = application.isEmpty() ? base : new File(base, application);
        this.baseName = baseName;
        this.limitBytes = limitBytes;
        this.outputDir = outputDir;
        PrivateFolder.make(root, folder);
        if (!Files.isWritable(folder.toPath())) {
            throw new IOException(folder + " is not writable");
        }
    }

    /** Where the next recording goes. */
    synchronized File next() {
        if (!folder.isDirectory()) { // gone when all was shipped
            makeAgain();
        }
        if (claim == null && !outputDir.isEmpty()) {
            claim = LocalClaim.make(folder, baseName, outputDir);
        }
        return new File(folder, String.format(Locale.ROOT, "%s.%06d.jfr", baseName, sequence + 1));
    }

    private void makeAgain() {
        try {
            PrivateFolder.make(root, folder);
        } catch (IOException e) {
            // the agent reports what it cannot write
        }
    }

    /** The recording goes on in next() from now on. */
    synchronized void advance() {
        finish();
        current = next();
        sequence++;
    }

    /**
     * After an error: either the new recording has begun and the old one did not end well, or the old one goes on
     * and the next attempt uses another name.
     */
    synchronized void advanceAfterError() {
        if (next().isFile() && hasHead(next())) {
            advance();
        } else {
            sequence++;
        }
    }

    /** The current recording is complete; a file without a header, after a full disk, is not a recording. */
    synchronized void finish() {
        if (current != null && !hasHead(current)) {
            current.delete();
        } else if (current != null) {
            long size = current.length();
            finished.put(current, size);
            finishedBytes += size;
        }
        current = null;
        while (finishedBytes > limitBytes && !finished.isEmpty()) {
            drop(oldest());
        }
    }

    /** Whether it begins as a recording does. */
    static boolean hasHead(File file) {
        byte[] head = new byte[HEAD.length];
        try (InputStream bytes = Files.newInputStream(file.toPath())) {
            return bytes.read(head) == head.length && Arrays.equals(head, HEAD);
        } catch (IOException e) {
            return false;
        }
    }

    /** The oldest one; null: none. */
    synchronized File oldest() {
        return oldest(file -> true);
    }

    synchronized File oldest(Predicate<File> wanted) {
        return finished.keySet().stream().filter(wanted).findFirst().orElse(null);
    }

    /** Oldest first. */
    synchronized List<File> waiting() {
        return new ArrayList<>(finished.keySet());
    }

    /** Deletes a finished one. */
    synchronized void delete(File file) {
        Long size = finished.remove(file);
        finishedBytes -= size == null ? 0 : size;
        file.delete();
    }

    /** Deletes a finished one that was not shipped. */
    synchronized void drop(File file) {
        dropped++;
        delete(file);
    }

    /** How many had to go before they were shipped. */
    synchronized long dropped() {
        return dropped;
    }

    /** Sum of the finished ones. */
    synchronized long bytes() {
        return finishedBytes;
    }

    /** Gone when nothing is left in it, also of other JVMs; until then the next JVM here needs the claim. */
    synchronized void deleteIfEmpty() {
        if (finished.isEmpty() && current == null && claim != null) {
            try {
                claim.delete();
            } catch (IOException e) {
                // the next JVM here deletes it
            }
            claim = null;
        }
        folder.delete();
    }

    /** This folder and then those, to look for one that may hold programs. */
    String[] andOthers(String... others) {
        String[] all = Arrays.copyOf(new String[] {folder.getPath()}, others.length + 1);
        System.arraycopy(others, 0, all, 1, others.length);
        return all;
    }

    File file(String name) {
        return new File(folder, name);
    }

    /** What others left in the same base. */
    Leftovers leftovers() {
        return new Leftovers(base, folder, baseName, LocalClaim.outputDir(outputDir));
    }

    @Override
    public String toString() {
        return folder.getPath();
    }
}
