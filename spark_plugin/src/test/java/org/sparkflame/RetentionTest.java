package org.sparkflame;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

public class RetentionTest {
    private static final long HOUR = 3_600_000;
    private static final String OWN = "app-20261119080000-0009";
    @Rule
    public final TemporaryFolder scratch = new TemporaryFolder();

    private File file(String path, int hoursOld) throws IOException {
        File file = new File(scratch.getRoot(), path);
        Files.createDirectories(file.getParentFile().toPath());
        Files.write(file.toPath(), new byte[100]);
        Files.setLastModifiedTime(file.toPath(), FileTime.fromMillis(System.currentTimeMillis() - hoursOld * HOUR));
        return file;
    }

    private static String application(int number) {
        return "app-20261119080000-000" + number;
    }

    private List<String> run(long keepHours, long keepBytes) throws IOException {
        Path group = new Path(scratch.getRoot().toURI());
        Retention retention = new Retention(new ObjectWriter(group, new Configuration(false)), group, OWN,
                keepHours == Long.MAX_VALUE ? keepHours : keepHours * HOUR, keepBytes, HOUR);
        List<String> kept = new ArrayList<>();
        retention.run(() -> true).forEach(path -> kept.add(path.getName()));
        return kept;
    }

    @Test
    public void oldApplicationsGo() throws Exception {
        file(application(1) + "/exec-1/000001.jfr", 50);
        file(application(1) + "/exec-1/.000002.jfr.unfinished", 50);
        file(application(1) + "/driver/000001-000012.jfr.gz", 50);
        file(application(1) + "/.control", 50);
        file(application(2) + "/exec-1/000001.jfr", 50);
        file(application(2) + "/exec-1/000002.jfr", 10);
        File own = file(OWN + "/exec-1/000001.jfr", 50);
        assertEquals(1, run(24, Long.MAX_VALUE).size());
        assertFalse(new File(scratch.getRoot(), application(1)).exists());
        assertTrue(new File(scratch.getRoot(), application(2) + "/exec-1/000001.jfr").isFile());
        assertTrue(own.isFile());
    }

    @Test
    public void nothingElseIsDeleted() throws Exception {
        File outside = scratch.newFolder("outside", "exec-1");
        assertTrue(new File(outside, "000001.jfr").createNewFile());
        assertTrue(new File(outside, "000001.jfr").setLastModified(HOUR));
        Files.createSymbolicLink(new File(scratch.getRoot(), application(3)).toPath(), outside.getParentFile().toPath());
        Files.createDirectories(new File(scratch.getRoot(), application(4)).toPath());
        Files.createSymbolicLink(new File(scratch.getRoot(), application(4) + "/exec-1").toPath(), outside.toPath());
        String[] others = {"data/exec-1/000001.jfr", application(1) + "/exec-1/results.parquet", application(1) + "/000001.jfr",
            application(1) + "/stages/000001.jfr", application(1) + "/exec-1/deep/000001.jfr", "application_1/exec-1/000001.jfr"};
        for (String other : others) {
            file(other, 50);
        }
        File ours = file(application(1) + "/exec-1/000001.jfr", 50);
        run(24, 0);
        assertFalse(ours.exists());
        for (String other : others) {
            assertTrue(other, new File(scratch.getRoot(), other).isFile());
        }
        assertTrue(new File(outside, "000001.jfr").isFile());
    }

    @Test
    public void theOldestGoUntilTheRestFits() throws Exception {
        for (int i = 1; i <= 4; i++) {
            file(application(i) + "/exec-1/000001.jfr", 10 - i);
        }
        file(application(5) + "/exec-1/000001.jfr", 0); // may run
        assertEquals("[" + application(3) + ", " + application(4) + "]", run(Long.MAX_VALUE, 350).toString());
        assertFalse(new File(scratch.getRoot(), application(2)).exists());
        assertEquals("another driver has just looked", 0, run(Long.MAX_VALUE, 0).size());
        assertTrue(new File(scratch.getRoot(), application(3)).exists());
    }

    @Test
    public void anApplicationKeepsItsNewest() throws Exception {
        for (int i = 1; i <= 4; i++) {
            file("app/exec-1/00000" + i + ".jfr", 10 - i);
        }
        File other = file("app/exec-1/notes", 50);
        Path application = new Path(new File(scratch.getRoot(), "app").toURI());
        assertEquals(2, Retention.limit(new ObjectWriter(application, new Configuration(false)), application, 250, () -> true));
        String[] names = other.getParentFile().list((folder, name) -> !name.endsWith(".crc"));
        java.util.Arrays.sort(names);
        assertArrayEquals(new String[] {"000003.jfr", "000004.jfr", "notes"}, names);
    }
}
