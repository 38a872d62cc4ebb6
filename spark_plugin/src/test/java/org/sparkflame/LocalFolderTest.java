package org.sparkflame;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.util.Arrays;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

public class LocalFolderTest {
    @Rule
    public final TemporaryFolder scratch = new TemporaryFolder();

    private static File record(LocalFolder folder, int bytes) throws IOException {
        File file = folder.next();
        folder.advance();
        Files.write(file.toPath(), Arrays.copyOf(new byte[] {'F', 'L', 'R'}, bytes));
        return file;
    }

    @Test
    public void filesAreNumberedAndComeOutOldestFirst() throws Exception {
        LocalFolder folder = new LocalFolder(new File(scratch.getRoot(), "app/deep"), "exec-1", 1000);
        File first = record(folder, 10);
        assertEquals("exec-1.000001.jfr", first.getName());
        assertNull(folder.oldest());
        File second = record(folder, 10);
        assertEquals(first, folder.oldest());
        folder.finish();
        folder.delete();
        assertFalse(first.exists());
        assertEquals(second, folder.oldest());
        assertEquals("exec-1.000003.jfr", folder.next().getName());
    }

    @Test
    public void theOldestGoWhenTheLimitIsReached() throws Exception {
        LocalFolder folder = new LocalFolder(scratch.getRoot(), "exec-1", 100);
        File first = record(folder, 60);
        File second = record(folder, 60);
        record(folder, 60);
        assertFalse(first.exists());
        assertTrue(second.exists());
        assertEquals(1, folder.dropped());
    }

    @Test
    public void whatAFullDiskLeftIsNoRecording() throws Exception {
        LocalFolder folder = new LocalFolder(scratch.getRoot(), "exec-1", 1000);
        File whole = record(folder, 10);
        folder.advanceIfBegun();
        assertNull("nothing has begun", folder.oldest());
        File headless = folder.next();
        Files.write(headless.toPath(), new byte[10]);
        folder.advanceIfBegun();
        assertEquals(whole, folder.oldest());
        folder.delete();
        record(folder, 10);
        assertFalse(headless.exists());
        assertNull(folder.oldest());
    }
}
