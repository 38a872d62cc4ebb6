package org.sparkflame;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/** Folders that only the user of this JVM can read and change. */
final class PrivateFolder {
    private static final Set<PosixFilePermission> OWNER_ONLY = PosixFilePermissions.fromString("rwx------");
    private static final int OTHERS_WRITE = 0022;
    private static final int STICKY = 01000;

    private PrivateFolder() {
    }

    /**
     * Makes the folders from `root` to `folder` where they are missing, for the owner only. The last one is refused if
     * it is a link or somebody else's, who could read or replace what is put there; if it is ours, others lose access.
     */
    static void make(File root, File folder) throws IOException {
        Path path = folder.getAbsoluteFile().toPath().normalize();
        Path top = root.getAbsoluteFile().toPath().normalize();
        if (!path.startsWith(top)) {
            throw new IOException(path + " is not below " + top);
        }
        if (!Files.isDirectory(top)) {
            Files.createDirectories(top, PosixFilePermissions.asFileAttribute(OWNER_ONLY));
        }
        Path each = top;
        for (Path name : top.relativize(path)) {
            if (name.toString().isEmpty()) {
                break;
            }
            each = each.resolve(name);
            try {
                Files.createDirectory(each, PosixFilePermissions.asFileAttribute(OWNER_ONLY));
            } catch (FileAlreadyExistsException e) {
                checkOurs(each);
            }
        }
    }

    private static void checkOurs(Path path) throws IOException {
        if (!isOurs(path)) {
            throw new IOException(path + " belongs to somebody else");
        }
        if (!Files.getPosixFilePermissions(path, LinkOption.NOFOLLOW_LINKS).equals(OWNER_ONLY)) {
            Files.setPosixFilePermissions(path, OWNER_ONLY);
        }
    }

    /** A folder, not a link, of the user as whom this JVM runs. */
    static boolean isOurs(Path path) throws IOException {
        return Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)
                && Files.getAttribute(path, "unix:uid", LinkOption.NOFOLLOW_LINKS).equals(user());
    }

    /** The number of the user, whose name may be unknown in a container. */
    private static Object user() throws IOException {
        for (String line : Files.readAllLines(Paths.get("/proc/self/status"), StandardCharsets.ISO_8859_1)) {
            if (line.startsWith("Uid:")) {
                return Integer.valueOf(line.split("\\s+")[2]); // the effective one
            }
        }
        throw new IOException("/proc/self/status has no user");
    }

    /** Whether nobody but the owner can rename or delete what another user, such as this one, has in it. */
    static boolean keepsEntries(Path folder) throws IOException {
        int mode = (Integer) Files.getAttribute(folder, "unix:mode");
        return (mode & OTHERS_WRITE) == 0 || (mode & STICKY) != 0;
    }
}
