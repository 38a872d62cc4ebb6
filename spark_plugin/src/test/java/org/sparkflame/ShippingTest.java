package org.sparkflame;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.After;
import org.junit.Before;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

public class ShippingTest {
    @Rule
    public final TemporaryFolder scratch = new TemporaryFolder();
    private Configuration configuration;
    private int files;

    @Before
    public void reset() {
        configuration = FaultyFiles.reset();
    }

    @After
    public void close() throws IOException {
        FileSystem.closeAll();
    }

    private Path output(String name) {
        return new Path("faulty://" + new File(scratch.getRoot(), name).getPath());
    }

    private HadoopObjects objects() {
        return new HadoopObjects(output("out/app"), "exec-1", configuration, false);
    }

    private HadoopFile oneFile() {
        return new HadoopFile(() -> output("out/profile-" + ++files + ".jfr"), configuration);
    }

    private File recording(String name, int bytes) throws IOException {
        byte[] contents = Arrays.copyOf(new byte[] {'F', 'L', 'R'}, bytes);
        Arrays.fill(contents, 4, bytes, (byte) bytes);
        return Files.write(new File(scratch.getRoot(), name).toPath(), contents).toFile();
    }

    private File shipped(String name) {
        return new File(scratch.getRoot(), "out/" + name);
    }

    private byte[] contents(File... parts) throws IOException {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (File part : parts) {
            Files.copy(part.toPath(), all);
        }
        return all.toByteArray();
    }

    private static int calls(String name) {
        return FaultyFiles.CALLS.getOrDefault(name, 0);
    }

    @Test
    public void eachExecutorHasAFolderAndObjectsAreRenamed() throws Exception {
        HadoopObjects shipper = objects();
        shipper.open();
        for (int i = 1; i <= 3; i++) {
            shipper.ship(recording("exec-1.00000" + i + ".jfr", 100));
        }
        assertArrayEquals(new String[] {"000001.jfr", "000002.jfr", "000003.jfr"}, sorted(shipped("app/exec-1")));
        assertEquals("{create=3, initialize=1, mkdirs=1, rename=3}", FaultyFiles.CALLS.toString());
    }

    private static String[] sorted(File folder) {
        String[] names = folder.list();
        Arrays.sort(names);
        return names;
    }

    @Test
    public void anObjectStoreGetsOneCallForAnObject() throws Exception {
        FaultyFiles.isObjectStore = true;
        HadoopObjects shipper = objects();
        shipper.open();
        assertEquals(0, calls("mkdirs"));
        shipper.ship(recording("exec-1.000001.jfr", 100));
        assertTrue(shipped("app/exec-1/000001.jfr").isFile());
        assertEquals(1, calls("create"));
        assertEquals(0, calls("rename"));
    }

    @Test
    public void whatIsCutIsNotPublished() throws Exception {
        for (boolean store : new boolean[] {true, false}) {
            FaultyFiles.isObjectStore = store;
            FaultyFiles.bytesLeft = 50;
            File recording = recording("exec-1.000007.jfr", 100);
            HadoopObjects shipper = objects();
            assertThrows(IOException.class, () -> shipper.ship(recording));
            assertEquals(store ? 1 : 0, calls("abort"));
            assertArrayEquals(new String[0], sorted(shipped("app/exec-1")));
            FaultyFiles.bytesLeft = Integer.MAX_VALUE;
            shipper.ship(recording);
            assertArrayEquals(contents(recording), contents(shipped("app/exec-1/000007.jfr")));
            assertTrue(shipped("app/exec-1/000007.jfr").delete());
            FaultyFiles.CALLS.clear();
        }
    }

    @Test
    public void aFileSystemThatTheJobClosesIsOpenedAgain() throws Exception {
        HadoopObjects shipper = objects();
        shipper.ship(recording("exec-1.000001.jfr", 100));
        FaultyFiles.hasClosed = true;
        shipper.ship(recording("exec-1.000002.jfr", 100));
        assertEquals(2, calls("initialize"));
        assertTrue(shipped("app/exec-1/000002.jfr").isFile());
    }

    @Test
    public void nothingIsAppendedTwice() throws Exception {
        for (boolean append : new boolean[] {true, false}) {
            FaultyFiles.canAppend = append;
            HadoopFile shipper = oneFile();
            File file = shipped("profile-" + files + ".jfr");
            File[] parts = {recording("1", 100), recording("2", 120), recording("3", 140)};
            shipper.ship(parts[0]);
            FaultyFiles.failsToFlush = true;
            assertThrows(IOException.class, () -> shipper.ship(parts[1]));
            FaultyFiles.failsToFlush = false;
            shipper.ship(parts[1]); // had arrived
            shipper.ship(parts[2]);
            shipper.close();
            if (append) {
                assertArrayEquals(contents(parts), contents(file));
            } else {
                assertArrayEquals(contents(parts[0], parts[1]), contents(file));
                assertArrayEquals(contents(parts[2]), contents(shipped("profile-" + files + ".jfr")));
            }
        }
    }

    @Test
    public void theRestOfACutRecordingIsAppended() throws Exception {
        for (boolean append : new boolean[] {true, false}) {
            FaultyFiles.canAppend = append;
            HadoopFile shipper = oneFile();
            File file = shipped("profile-" + files + ".jfr");
            File[] parts = {recording("1", 100), recording("2", 120)};
            shipper.ship(parts[0]);
            FaultyFiles.bytesLeft = 50;
            assertThrows(IOException.class, () -> shipper.ship(parts[1]));
            FaultyFiles.bytesLeft = Integer.MAX_VALUE;
            shipper.ship(parts[1]);
            shipper.close();
            if (append) {
                assertArrayEquals(contents(parts), contents(file));
            } else {
                assertArrayEquals(contents(parts[0]), contents(file));
                assertArrayEquals(contents(parts[1]), contents(shipped("profile-" + files + ".jfr")));
            }
        }
    }

    @Test
    public void anotherThanTheCutRecordingFollowsWithItsHead() throws Exception {
        for (int size : new int[] {50, 120}) { // of what has arrived, and another
            for (boolean append : new boolean[] {true, false}) {
                FaultyFiles.canAppend = append;
                HadoopFile shipper = oneFile();
                File file = shipped("profile-" + files + ".jfr");
                File[] parts = {recording("1", 100), recording("2", 110), recording("3", size)};
                shipper.ship(parts[0]);
                FaultyFiles.bytesLeft = 50;
                assertThrows(IOException.class, () -> shipper.ship(parts[1]));
                FaultyFiles.bytesLeft = Integer.MAX_VALUE;
                shipper.ship(parts[2]);
                shipper.close();
                assertArrayEquals(contents(parts[0]), contents(file));
                assertArrayEquals(contents(parts[2]), contents(shipped("profile-" + files + ".jfr")));
            }
        }
    }

    @Test
    public void aFileThatStaysOpenIsContinuedElsewhere() throws Exception {
        FaultyFiles.canAppend = true;
        HadoopFile shipper = oneFile();
        File[] parts = {recording("1", 100), recording("2", 120)};
        shipper.ship(parts[0]);
        FaultyFiles.bytesLeft = 50;
        assertThrows(IOException.class, () -> shipper.ship(parts[1]));
        FaultyFiles.bytesLeft = Integer.MAX_VALUE;
        FaultyFiles.refusedAppends = 3;
        assertThrows(IOException.class, () -> shipper.ship(parts[1]));
        assertThrows(IOException.class, () -> shipper.ship(parts[1]));
        shipper.ship(parts[1]);
        shipper.close();
        assertArrayEquals(contents(parts[1]), contents(shipped("profile-" + files + ".jfr")));
        assertEquals(2, files);
    }

    private LocalFolder local(String application, String executor, String target) throws IOException {
        File base = new File(scratch.getRoot(), "local");
        return new LocalFolder(base, base, application, executor, 1000, target);
    }

    /** As a JVM that is killed leaves it: the lock is gone, the files are there. */
    private File leave(String application, String executor, String target) throws IOException {
        File folder = new File(scratch.getRoot(), "local/" + application);
        LocalFolder killed = local(application, executor, "");
        Files.write(new File(folder, "." + executor + ".lock").toPath(), target.getBytes("UTF-8"));
        File file = killed.next();
        Files.copy(recording("left", 100).toPath(), file.toPath());
        return file;
    }

    @Test
    public void whatAKilledExecutorLeftIsShippedByTheNext() throws Exception {
        String target = output("out").toString();
        File killed = leave("app", "exec-0", target);
        File earlier = leave("group/app-0", "driver", target);
        File kept = leave("app-1", "exec-5", "");
        File other = leave("app-2", "exec-6", "hdfs:///other");
        LocalFolder folder = local("app", "exec-1", target);
        folder.next();
        ShippingTotals totals = new ShippingTotals();
        List<String> applications = new ArrayList<>();
        shipping(folder, totals, applications).shipLeftovers(() -> true);
        assertEquals(2, totals.objects.get());
        assertTrue(shipped("app/exec-0/000001.jfr").isFile());
        assertTrue(shipped("group/app-0/driver/000001.jfr").isFile());
        assertEquals("no folder of its own there", 0, calls("mkdirs"));
        assertArrayEquals(new String[] {"exec-0"}, shipped("app").list());
        assertEquals(Arrays.asList("app", "group/app-0"), applications);
        assertFalse(killed.exists() || earlier.exists() || earlier.getParentFile().exists());
        assertTrue("without an outputDir, or with another, it stays", kept.isFile() && other.isFile());
    }

    @Test
    public void whatALivingExecutorRecordsIsItsOwn() throws Exception {
        String target = output("out").toString();
        LocalFolder living = local("app", "exec-0", target);
        File file = living.next();
        Files.copy(recording("left", 100).toPath(), file.toPath());
        assertNull(LocalClaim.take(new File(file.getParentFile(), ".exec-0.lock").toPath()));
        local("app", "exec-1", target).leftovers().ship(true, () -> true, (recording, application, details) -> {
            throw new IOException("not its own");
        });
        assertTrue(file.isFile());
    }

    @Test
    public void whatCannotBeShippedDoesNotKeepTheRest() throws Exception {
        String target = output("out").toString();
        File bad = leave("app", "exec-0", target);
        File good = leave("app", "exec-2", target);
        File elsewhere = leave("app-0", "driver", target);
        assertTrue(shipped("app").mkdirs());
        assertTrue(shipped("app/exec-0").createNewFile());
        LocalFolder folder = local("app", "exec-1", target);
        ShippingTotals totals = new ShippingTotals();
        Shipping shipping = shipping(folder, totals, new ArrayList<>());
        shipping.shipLeftovers(() -> true);
        assertEquals(2, totals.objects.get());
        assertTrue(bad.isFile());
        assertFalse(good.exists() || elsewhere.exists());
        File later = leave("app-1", "driver", target);
        shipping.shipLeftovers(() -> true);
        assertTrue("it looks for others' once", later.isFile());
    }

    @Test
    public void leftoversWaitWhenThereIsNoTime() throws Exception {
        String target = output("out").toString();
        File left = leave("app", "exec-0", target);
        shipping(local("app", "exec-1", target), new ShippingTotals(), new ArrayList<>()).shipLeftovers(() -> false);
        assertTrue(left.isFile() && new File(left.getParentFile(), ".exec-0.lock").isFile());
    }

    private Shipping shipping(LocalFolder folder, ShippingTotals totals, List<String> applications) {
        Destination output = new Destination(objects(), (relative, details) -> {
            applications.add(relative);
            return new HadoopObjects(output("out/" + relative), "exec-1", configuration, false);
        });
        return new Shipping(folder, Collections.singletonList(output), totals, new HadoopUser());
    }

    private File record(LocalFolder folder) throws IOException {
        File file = folder.next();
        folder.advance();
        Files.copy(recording("next", 100).toPath(), file.toPath());
        return file;
    }

    private static Thread hang(Runnable what) throws InterruptedException {
        FaultyFiles.hangs = new CountDownLatch(1);
        FaultyFiles.goesOn = new CountDownLatch(1);
        Thread thread = new Thread(what);
        thread.start();
        assertTrue(FaultyFiles.hangs.await(60, TimeUnit.SECONDS));
        return thread;
    }

    @Test
    public void theClaimOutlivesAStoreThatHangs() throws Exception {
        LocalFolder folder = local("app", "exec-1", output("out").toString());
        File current = record(folder);
        Shipping shipping = shipping(folder, new ShippingTotals(), new ArrayList<>());
        Thread thread = hang(shipping::open);
        shipping.abandon();
        folder.deleteIfEmpty();
        assertTrue(current.isFile() && new File(current.getParentFile(), ".exec-1.lock").isFile());
        FaultyFiles.goesOn.countDown();
        thread.join();
    }

    @Test
    public void whoWasAbandonedLeavesTheFolderAlone() throws Exception {
        LocalFolder folder = local("app", "exec-1", output("out").toString());
        File first = record(folder);
        File second = record(folder);
        folder.finish();
        ShippingTotals totals = new ShippingTotals();
        Shipping shipping = shipping(folder, totals, new ArrayList<>());
        Thread thread = hang(() -> {
            shipping.ship();
            shipping.close();
        });
        shipping.abandon();
        FaultyFiles.hangs = null;
        FaultyFiles.goesOn.countDown();
        thread.join();
        assertEquals(first, folder.oldest());
        assertTrue(first.isFile() && second.isFile());
        shipping(folder, totals, new ArrayList<>()).ship();
        assertArrayEquals(new String[] {"000001.jfr", "000002.jfr"}, sorted(shipped("app/exec-1")));
        assertNull(folder.oldest());
    }

    @Test
    public void aRecordingThatVanishedDoesNotKeepTheNext() throws Exception {
        LocalFolder folder = local("app", "exec-1", output("out").toString());
        File first = record(folder);
        record(folder);
        folder.finish();
        assertTrue(first.delete());
        ShippingTotals totals = new ShippingTotals();
        assertTrue(shipping(folder, totals, new ArrayList<>()).ship());
        assertArrayEquals(new String[] {"000002.jfr"}, sorted(shipped("app/exec-1")));
        assertEquals(1, totals.dropped.get());
        assertEquals(0, folder.bytes());
    }
}
