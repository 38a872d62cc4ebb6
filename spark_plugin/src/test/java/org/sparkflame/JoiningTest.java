package org.sparkflame;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.attribute.FileTime;
import java.util.Arrays;
import java.util.Locale;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.After;
import org.junit.Before;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

public class JoiningTest {
    @Rule
    public final TemporaryFolder scratch = new TemporaryFolder();
    private Configuration configuration;
    private File folder;

    @Before
    public void reset() throws IOException {
        configuration = FaultyFiles.reset();
        folder = new File(scratch.getRoot(), "app/exec-1");
        Files.createDirectories(folder.toPath());
    }

    @After
    public void close() throws IOException {
        FileSystem.closeAll();
    }

    static byte[] chunk(int number) {
        ByteBuffer bytes = ByteBuffer.allocate(80 + number % 50);
        bytes.putInt(0x464c5200).putInt(0x20001).putLong(bytes.capacity()).putInt(number);
        return bytes.array();
    }

    private static byte[] zipped(byte[] bytes) throws IOException {
        ByteArrayOutputStream zipped = new ByteArrayOutputStream();
        try (GZIPOutputStream stream = new GZIPOutputStream(zipped)) {
            stream.write(bytes);
        }
        return zipped.toByteArray();
    }

    private void ship(int from, int to) throws IOException {
        for (int i = from; i <= to; i++) {
            Files.write(new File(folder, String.format(Locale.ROOT, "%06d.jfr", i)).toPath(), chunk(i));
        }
    }

    private Path application() {
        return new Path("faulty://" + folder.getParent());
    }

    private Joining joining() {
        return new Joining(new ObjectWriter(application(), configuration), application(), () -> true);
    }

    private String names() {
        String[] names = folder.list();
        Arrays.sort(names);
        return String.join(" ", names);
    }

    /** The numbers of the recordings that a reader finds: it skips what lies in the range of another file. */
    private TreeMap<Integer, Integer> seen() throws IOException {
        TreeMap<Integer, Integer> counts = new TreeMap<>();
        for (File file : folder.listFiles((parent, name) -> !name.startsWith("."))) {
            long[] range = range(file);
            boolean covered = Arrays.stream(folder.listFiles()).filter(one -> !one.isHidden()).map(JoiningTest::range)
                    .anyMatch(one -> one[0] <= range[0] && range[1] <= one[1] && one[1] - one[0] > range[1] - range[0]);
            ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(file.toPath()));
            while (!covered && bytes.hasRemaining()) {
                counts.merge(bytes.getInt(bytes.position() + 16), 1, Integer::sum);
                bytes.position(bytes.position() + (int) bytes.getLong(bytes.position() + 8));
            }
        }
        return counts;
    }

    private static long[] range(File file) {
        String[] parts = file.getName().replace(".jfr", "").split("-");
        return new long[] {Long.parseLong(parts[0]), Long.parseLong(parts[parts.length - 1])};
    }

    private void assertSeenOnce(int count) throws IOException {
        TreeMap<Integer, Integer> seen = seen();
        assertEquals(seen.toString(), count, seen.size());
        assertEquals(new TreeSet<>(Arrays.asList(1)), new TreeSet<>(seen.values()));
    }

    @Test
    public void runsAreJoinedAndGapsStay() throws Exception {
        ship(1, 12);
        ship(14, 20);
        ship(22, 30);
        Files.write(new File(folder, "notes.txt").toPath(), new byte[] {1});
        assertEquals(11 + 8, joining().join(8));
        assertEquals("000001-000012.jfr 000014.jfr 000015.jfr 000016.jfr 000017.jfr 000018.jfr 000019.jfr 000020.jfr "
                + "000022-000030.jfr notes.txt", names());
        assertFalse(new File(folder.getParentFile(), Joining.LEASE).exists());
        assertEquals(0, joining().join(8));
        assertEquals(6, joining().join(2));
        Files.delete(new File(folder, "notes.txt").toPath());
        assertEquals("000001-000012.jfr 000014-000020.jfr 000022-000030.jfr", names());
        assertSeenOnce(28);
    }

    @Test
    public void eachByteIsCopiedFewTimes() throws Exception {
        for (int i = 0; i < 16; i++) {
            ship(8 * i + 1, 8 * i + 8);
            joining().join(8);
        }
        assertEquals(7, joining().join(8));
        assertEquals("000001-000064.jfr 000065-000128.jfr", names());
        assertSeenOnce(128);
        assertEquals("16 of level 1, 2 of level 2", 16 + 2, FaultyFiles.CALLS.get("rename").intValue());
    }

    @Test
    public void whatIsCutStaysAlone() throws Exception {
        ship(1, 9);
        Files.write(new File(folder, "000005.jfr").toPath(), Arrays.copyOf(chunk(5), 70));
        Joining joining = joining();
        assertEquals("the whole run is tried", 0, joining.join(2));
        assertEquals(3 + 3, joining.join(2));
        assertEquals("000001-000004.jfr 000005.jfr 000006-000009.jfr", names());
    }

    @Test
    public void compressedOnesAreJoined() throws Exception {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (int i = 1; i <= 16; i++) {
            Files.write(new File(folder, String.format(Locale.ROOT, "%06d.jfr.gz", i)).toPath(), zipped(chunk(i)));
            all.write(chunk(i));
            if (i % 8 == 0) {
                assertEquals(7, joining().join(8));
            }
        }
        assertEquals(1, joining().join(2));
        assertEquals("000001-000016.jfr.gz", names());
        ByteArrayOutputStream found = new ByteArrayOutputStream();
        byte[] bytes = Files.readAllBytes(new File(folder, names()).toPath());
        try (GZIPInputStream stream = new GZIPInputStream(new ByteArrayInputStream(bytes))) {
            byte[] buffer = new byte[100];
            for (int got = stream.read(buffer); got >= 0; got = stream.read(buffer)) {
                found.write(buffer, 0, got);
            }
        }
        assertArrayEquals(all.toByteArray(), found.toByteArray());
        Files.write(new File(folder, "000017.jfr.gz").toPath(), Arrays.copyOf(zipped(chunk(17)), 30));
        assertEquals(0, joining().join(2));
        assertTrue(new File(folder, "000017.jfr.gz").isFile());
    }

    @Test
    public void itGoesOnWhereItWasInterrupted() throws Exception {
        for (boolean store : new boolean[] {false, true}) {
            int calls = 0;
            boolean finished = false;
            while (!finished) {
                reset();
                FaultyFiles.isObjectStore = store;
                ship(1, 10);
                finished = !interruptedAfter(calls++);
                assertSeenOnce(10);
                FaultyFiles.diesAfter = Integer.MAX_VALUE;
                new File(folder.getParentFile(), Joining.LEASE).delete(); // as an hour later
                joining().join(8);
                assertSeenOnce(10);
                assertEquals("000001-000010.jfr", names());
                Files.delete(new File(folder, "000001-000010.jfr").toPath());
            }
            assertTrue("lease, copy, ten of ten deleted, lease: " + calls, calls > 13);
        }
    }

    /** As a driver that is killed; false: it had finished before. */
    private boolean interruptedAfter(int calls) {
        FaultyFiles.diesAfter = calls;
        try {
            joining().join(8);
            return false;
        } catch (IOException e) {
            return true;
        }
    }

    @Test
    public void neverTwoAtOnce() throws Exception {
        ship(1, 10);
        Path lease = new Path(application(), Joining.LEASE);
        StoreLease other = new StoreLease(new ObjectWriter(application(), configuration), lease);
        assertTrue(other.take());
        assertTrue(other.isOurs());
        assertEquals(0, joining().join(8));
        assertEquals(10, folder.list().length);
        File file = new File(folder.getParentFile(), Joining.LEASE);
        Files.setLastModifiedTime(file.toPath(), FileTime.fromMillis(System.currentTimeMillis() - 2 * StoreLease.LENGTH_MILLISECONDS));
        assertEquals("that one was killed", 9, joining().join(8));
        assertFalse(other.isOurs());
        other.release();
        assertArrayEquals(new String[] {"exec-1"}, folder.getParentFile().list());
    }

    @Test
    public void whoLosesTheLeaseStops() throws Exception {
        ship(1, 10);
        File file = new File(folder.getParentFile(), Joining.LEASE);
        int[] asked = {0};
        Joining joining = new Joining(new ObjectWriter(application(), configuration), application(), () -> {
            if (++asked[0] == 2) { // when all is copied
                file.delete();
                try {
                    Files.write(file.toPath(), new byte[] {'x'});
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            }
            return true;
        });
        assertThrows(IOException.class, () -> joining.join(8));
        assertEquals(10, folder.list().length);
        assertTrue(file.isFile());
    }

    @Test
    public void namesThatAreNotOursAreNone() throws Exception {
        for (String name : new String[] {"7.jfr", "000007.txt", "000009-000002.jfr", "x000007.jfr", "000007.jfr.gz.x", "000007-.jfr"}) {
            File file = new File(folder, name);
            assertTrue(file.createNewFile());
            assertNull(name, RecordingRange.of(status(file)));
        }
        File file = new File(folder, "000007-000009.jfr.gz");
        assertTrue(file.createNewFile());
        assertNotNull(RecordingRange.of(status(file)));
    }

    private org.apache.hadoop.fs.FileStatus status(File file) throws IOException {
        Path path = new Path("faulty://" + file);
        return path.getFileSystem(configuration).getFileStatus(path);
    }
}
