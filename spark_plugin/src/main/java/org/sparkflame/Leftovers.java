package org.sparkflame;

import java.io.File;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * Recordings that JVMs of this machine, of this application or of others with the same output folder, could not ship
 * before they ended. Whoever records next here ships them.
 */
final class Leftovers {
    private static final int FOLDERS_LIMIT = 1000;
    private static final int DEPTH = 2; // GROUP/APPLICATION
    private final Path root;
    private final String outputDir;
    private final String ownName;
    private final Path ownFolder;

    /** Ships the recordings of one folder. */
    interface Sender {
        /**
         * @param relative the folder below the root, which is also that below the output folder
         * @param details what the claim says besides
         */
        void ship(File recording, String relative, String details) throws Exception;
    }

    /** `root` is localDir, `ownFolder` the application's folder in it, where this JVM records as `ownName`. */
    Leftovers(File root, File ownFolder, String ownName, String outputDir) {
        this.root = root.toPath();
        this.ownFolder = ownFolder.toPath();
        this.ownName = ownName;
        this.outputDir = outputDir;
    }

    /**
     * Ships those of the application's own folder, or of all. After an error the next JVM's are tried; the first error
     * is thrown at the end.
     *
     * @param goesOn asked before each recording
     */
    void ship(boolean everywhere, BooleanSupplier goesOn, Sender sender) throws Exception {
        Exception first = null;
        List<Path> folders = new ArrayList<>();
        if (everywhere) {
            addFolders(root, DEPTH, folders);
        } else {
            folders.add(ownFolder);
        }
        for (Path folder : folders) {
            for (Path lock : list(folder, ".*.lock")) {
                boolean own = folder.equals(ownFolder) && LocalClaim.baseName(lock.getFileName().toString()).equals(ownName);
                try {
                    if (!own && goesOn.getAsBoolean()) {
                        shipClaimed(folder, lock, goesOn, sender);
                    }
                } catch (Exception e) {
                    first = first == null ? e : first;
                }
            }
        }
        if (first != null) {
            throw first;
        }
    }

    private static void addFolders(Path folder, int depth, List<Path> folders) throws IOException {
        for (Path path : list(folder, "[!.]*")) {
            if (folders.size() < FOLDERS_LIMIT && PrivateFolder.isOurs(path)) {
                folders.add(path);
                if (depth > 1) {
                    addFolders(path, depth - 1, folders);
                }
            }
        }
    }

    private static List<Path> list(Path folder, String pattern) throws IOException {
        List<Path> found = new ArrayList<>();
        if (!Files.isDirectory(folder)) {
            return found;
        }
        try (DirectoryStream<Path> paths = Files.newDirectoryStream(folder, pattern)) {
            paths.forEach(found::add);
        }
        found.sort(null);
        return found;
    }

    private void shipClaimed(Path folder, Path lock, BooleanSupplier goesOn, Sender sender) throws Exception {
        try (LocalClaim claim = LocalClaim.take(lock)) {
            if (claim == null || !claim.outputDir().equals(outputDir)) {
                return;
            }
            String name = LocalClaim.baseName(lock.getFileName().toString());
            for (Path path : list(folder, "*.jfr")) {
                String file = path.getFileName().toString();
                if (!file.startsWith(name + ".") || !Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS)) {
                    continue;
                }
                if (!goesOn.getAsBoolean()) {
                    return;
                }
                if (LocalFolder.hasHead(path.toFile())) {
                    sender.ship(path.toFile(), root.relativize(folder).toString(), claim.details());
                }
                Files.delete(path);
            }
            claim.delete();
            folder.toFile().delete(); // if nothing else is in it
        }
    }
}
