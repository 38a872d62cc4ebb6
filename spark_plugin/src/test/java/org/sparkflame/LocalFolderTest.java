package org.sparkflame;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.Collections;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

public class LocalFolderTest {
    @Rule
    public final TemporaryFolder scratch = new TemporaryFolder();

    private LocalFolder folder(String application, long limit) throws IOException {
        return new LocalFolder(scratch.getRoot(), scratch.getRoot(), application, "exec-1", limit, "hdfs:///p");
    }

    private static File record(LocalFolder folder, int bytes) throws IOException {
        File file = folder.next();
        folder.advance();
        Files.write(file.toPath(), Arrays.copyOf(new byte[] {'F', 'L', 'R'}, bytes));
        return file;
    }

    @Test
    public void filesAreNumberedAndComeOutOldestFirst() throws Exception {
        LocalFolder folder = folder("app/deep", 1000);
        File first = record(folder, 10);
        assertEquals("exec-1.000001.jfr", first.getName());
        assertNull(folder.oldest());
        File second = record(folder, 10);
        assertEquals(first, folder.oldest());
        folder.finish();
        folder.delete(folder.oldest());
        assertFalse(first.exists());
        assertEquals(second, folder.oldest());
        assertEquals("exec-1.000003.jfr", folder.next().getName());
    }

    @Test
    public void theOldestGoWhenTheLimitIsReached() throws Exception {
        LocalFolder folder = folder("app", 100);
        File first = record(folder, 60);
        File second = record(folder, 60);
        record(folder, 60);
        assertFalse(first.exists());
        assertTrue(second.exists());
        assertEquals(1, folder.dropped());
    }

    @Test
    public void theCurrentRecordingGoesOnWhenTheNextCannotBegin() throws Exception {
        LocalFolder folder = folder("app", 1000);
        File first = record(folder, 10);
        folder.advanceAfterError();
        assertNull("the first one goes on", folder.oldest());
        assertEquals("exec-1.000003.jfr", folder.next().getName());
        Files.write(folder.next().toPath(), new byte[10]);
        folder.advanceAfterError();
        assertNull("a file without a header is not a recording", folder.oldest());
        File begun = folder.next();
        Files.write(begun.toPath(), Arrays.copyOf(new byte[] {'F', 'L', 'R'}, 10));
        folder.advanceAfterError();
        assertEquals("the first one did not end well", first, folder.oldest());
        folder.delete(folder.oldest());
        folder.finish();
        assertEquals(begun, folder.oldest());
    }

    @Test
    public void theSizesOfThoseThatVanishAreForgotten() throws Exception {
        LocalFolder folder = folder("app", 100);
        File first = record(folder, 60);
        folder.finish();
        assertTrue(first.delete());
        folder.drop(first);
        folder.drop(first);
        assertEquals(0, folder.bytes());
        File second = record(folder, 60);
        folder.finish();
        assertEquals("the limit is not reached", second, folder.oldest());
    }

    @Test
    public void aFileWithoutAHeaderIsDeleted() throws Exception {
        LocalFolder folder = folder("app", 1000);
        File headless = folder.next();
        folder.advance();
        Files.write(headless.toPath(), new byte[10]);
        folder.finish();
        assertFalse(headless.exists());
        assertNull(folder.oldest());
    }

    @Test
    public void itIsForItsOwnerAlone() throws Exception {
        LocalFolder folder = folder("group/app", 1000);
        File made = folder.next().getParentFile();
        assertEquals(PosixFilePermissions.fromString("rwx------"), Files.getPosixFilePermissions(made.toPath()));
        made.setReadable(true, false);
        folder("group/app", 1000);
        assertEquals(PosixFilePermissions.fromString("rwx------"), Files.getPosixFilePermissions(made.toPath()));
    }

    @Test
    public void aPlantedFolderIsRefusedAndAnotherIsTaken() throws Exception {
        File first = scratch.newFolder("first");
        File second = scratch.newFolder("second");
        File elsewhere = scratch.newFolder("elsewhere");
        Files.createSymbolicLink(new File(first, "app").toPath(), elsewhere.toPath());
        assertThrows(IOException.class, () -> new LocalFolder(first, first, "app", "exec-1", 1000, ""));
        LocalRoots roots = new LocalRoots(first.getPath(), true,
                Collections.singletonMap("SPARK_LOCAL_DIRS", second.getPath()), null, false);
        String name = roots.open("app", "exec-1", 1000, "").toString();
        assertEquals(new File(second, LocalRoots.folderName() + "/app").getPath(), name);
        assertEquals(0, elsewhere.list().length);
    }

    @Test
    public void withEncryptionNothingIsWrittenToADisk() throws Exception {
        File disk = scratch.newFolder("disk");
        boolean isMemory = Files.getFileStore(disk.toPath()).type().equals("tmpfs");
        LocalRoots roots = new LocalRoots(disk.getPath(), true, Collections.emptyMap(), null, true);
        try {
            LocalFolder folder = roots.open("app-test", "exec-1", 1000, "");
            assertTrue(Arrays.asList("tmpfs", "ramfs").contains(Files.getFileStore(new File(folder.toString()).toPath()).type()));
            assertEquals(isMemory, folder.toString().startsWith(disk.getPath()));
            folder.deleteIfEmpty();
        } catch (IOException e) { // where /dev/shm is missing
            assertTrue(e.getMessage(), e.getMessage().contains("is on a disk, and spark.io.encryption.enabled is true"));
        }
        assertTrue(isMemory || disk.list().length == 0);
    }
}
