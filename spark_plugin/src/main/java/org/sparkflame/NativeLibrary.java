package org.sparkflame;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** Takes libsparkflame.so out of the jar and loads it, once in a JVM. */
final class NativeLibrary {
    private static boolean loaded;

    private NativeLibrary() {
    }

    /** Tries the folders in turn, since one of them may forbid to run what lies in it. */
    static synchronized void load(String... folders) throws IOException {
        if (loaded) {
            return;
        }
        String resource = resourceName(System.getProperty("os.name"), System.getProperty("os.arch"));
        Throwable trouble = null;
        for (String folder : folders) {
            try {
                loadFrom(resource, new File(folder));
                loaded = true;
                return;
            } catch (IOException | UnsatisfiedLinkError e) {
                trouble = e;
            }
        }
        throw new IOException("libsparkflame.so cannot be loaded from " + String.join(" or ", folders) + ": "
                + (trouble == null ? "no folder" : trouble.getMessage()), trouble);
    }

    static String resourceName(String system, String processor) throws IOException {
        if (!"Linux".equals(system)) {
            throw new IOException("there is no libsparkflame.so for " + system + ", only for Linux");
        }
        String name = "amd64".equals(processor) ? "x86_64" : processor;
        return "/org/sparkflame/linux-" + name + "/libsparkflame.so";
    }

    /** The file has no use once it is loaded, and a killed JVM would leave it behind. */
    private static void loadFrom(String resource, File folder) throws IOException {
        Files.createDirectories(folder.toPath());
        Path file = Files.createTempFile(folder.toPath(), "libsparkflame", ".so");
        try (InputStream bytes = NativeLibrary.class.getResourceAsStream(resource)) {
            if (bytes == null) {
                throw new IOException("the jar has no " + resource);
            }
            Files.copy(bytes, file, StandardCopyOption.REPLACE_EXISTING);
            System.load(file.toAbsolutePath().toString());
        } finally {
            Files.deleteIfExists(file);
        }
    }
}
