package org.sparkflame;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashSet;

/** Takes libsparkflame.so out of the jar and loads it, once in a JVM. */
final class NativeLibrary {
    private static boolean loaded;

    private NativeLibrary() {
    }

    /** Tries the folders in turn, since some may be mounted noexec, or may be open to other users. */
    static synchronized void load(String... folders) throws IOException {
        if (loaded) {
            return;
        }
        String resource = resourceName(System.getProperty("os.name"), System.getProperty("os.arch"),
                System.getProperty("java.specification.version"));
        if (NativeLibrary.class.getResource(resource) == null) {
            throw new IOException("this jar has no libsparkflame.so for Linux on " + System.getProperty("os.arch"));
        }
        StringBuilder reasons = new StringBuilder();
        for (String folder : new LinkedHashSet<>(Arrays.asList(folders))) {
            try {
                loadFrom(resource, new File(folder).getAbsoluteFile());
                loaded = true;
                return;
            } catch (IOException | UnsatisfiedLinkError e) {
                reasons.append(reasons.length() == 0 ? "" : "; ").append(folder).append(": ").append(e.getMessage());
            }
        }
        if (isMusl()) {
            throw new IOException("this system has musl, and libsparkflame.so needs glibc (" + reasons + ")");
        }
        throw new IOException("libsparkflame.so cannot be loaded from " + reasons);
    }

    static String resourceName(String system, String processor, String java) throws IOException {
        if (!"Linux".equals(system)) {
            throw new IOException("there is no libsparkflame.so for " + system + ", only for Linux");
        }
        if (java != null && java.startsWith("1.")) {
            throw new IOException("this is Java " + java.substring(2) + ", and Java 11 or later is needed");
        }
        String name = "amd64".equals(processor) ? "x86_64" : processor;
        return "/org/sparkflame/linux-" + name + "/libsparkflame.so";
    }

    private static boolean isMusl() {
        String[] loaders = new File("/lib").list((folder, name) -> name.startsWith("ld-musl-"));
        return loaders != null && loaders.length > 0;
    }

    /**
     * From a new folder that only this user can enter. The file is not needed once it is loaded, and a killed JVM would
     * leave it.
     */
    private static void loadFrom(String resource, File parent) throws IOException {
        if (!parent.isDirectory()) {
            PrivateFolder.make(parent, parent);
        }
        if (!PrivateFolder.keepsEntries(parent.toPath())) {
            throw new IOException("other users can replace files there");
        }
        Path folder = Files.createTempDirectory(parent.toPath(), ".libsparkflame");
        Path file = folder.resolve("libsparkflame.so");
        try (InputStream bytes = NativeLibrary.class.getResourceAsStream(resource)) {
            Files.copy(bytes, file);
            System.load(file.toString());
        } finally {
            Files.deleteIfExists(file);
            Files.delete(folder);
        }
    }
}
