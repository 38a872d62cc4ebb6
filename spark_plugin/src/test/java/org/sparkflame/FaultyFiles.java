package org.sparkflame;

import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Abortable;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.util.Progressable;

/** Local files under faulty:///, whose calls are counted, and which fail as a test wants. */
public final class FaultyFiles extends RawLocalFileSystem {
    static final Map<String, Integer> CALLS = new TreeMap<>();
    /** Whether files appear only when they are closed. */
    static boolean isObjectStore;
    static boolean canAppend;
    static boolean hasClosed;
    /** The stream fails when it has taken so many bytes. */
    static int bytesLeft;
    /** A flush fails although the bytes have arrived. */
    static boolean failsToFlush;
    /** How many appends are refused. */
    static int refusedAppends;
    /** After so many calls that change something, all fail, as for a JVM that was killed. */
    static int diesAfter = Integer.MAX_VALUE;
    /** Calls of mkdirs() and create() hang until the second is down; the first tells that one does. */
    static CountDownLatch hangs;
    static CountDownLatch goesOn;
    /** Files and folders are made with the folders above by further calls. */
    private static final ThreadLocal<Boolean> IS_INSIDE = ThreadLocal.withInitial(() -> false);

    static Configuration reset() {
        CALLS.clear();
        isObjectStore = false;
        canAppend = false;
        hasClosed = false;
        failsToFlush = false;
        refusedAppends = 0;
        hangs = null;
        goesOn = null;
        bytesLeft = Integer.MAX_VALUE;
        diesAfter = Integer.MAX_VALUE;
        Configuration configuration = new Configuration(false);
        configuration.set("fs.faulty.impl", FaultyFiles.class.getName());
        return configuration;
    }

    private static synchronized void count(String call) {
        CALLS.merge(call, 1, Integer::sum);
    }

    @Override
    public URI getUri() {
        return URI.create("faulty:///");
    }

    @Override
    public void initialize(URI uri, Configuration configuration) throws IOException {
        super.initialize(uri, configuration);
        count("initialize");
    }

    @Override
    public boolean hasPathCapability(Path path, String capability) throws IOException {
        return isObjectStore && capability.equals("fs.capability.outputstream.abortable");
    }

    @Override
    public FSDataOutputStream create(Path path, boolean overwrite, int buffer, short replication, long block,
            Progressable progress) throws IOException {
        count("create");
        die();
        if (hasClosed) {
            hasClosed = false;
            FileSystem.closeAll();
            throw new IOException("Filesystem closed");
        }
        hang();
        IS_INSIDE.set(true);
        try {
            return watched(super.create(path, overwrite, buffer, replication, block, progress), path);
        } finally {
            IS_INSIDE.set(false);
        }
    }

    private static void die() throws IOException {
        if (--diesAfter < 0) {
            throw new IOException("killed");
        }
    }

    @Override
    public boolean delete(Path path, boolean recursive) throws IOException {
        die();
        return super.delete(path, recursive);
    }

    private static void hang() throws IOException {
        if (hangs == null) {
            return;
        }
        hangs.countDown();
        try {
            if (!goesOn.await(60, TimeUnit.SECONDS)) {
                throw new IOException("it never went on");
            }
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
    }

    @Override
    public FSDataOutputStream append(Path path, int buffer, Progressable progress) throws IOException {
        if (!canAppend) {
            throw new UnsupportedOperationException("append");
        }
        count("append");
        if (--refusedAppends >= 0) {
            throw new IOException("lease");
        }
        return watched(super.append(path, buffer, progress), path);
    }

    private FSDataOutputStream watched(FSDataOutputStream bytes, Path path) throws IOException {
        return new FSDataOutputStream(new Watched(bytes, path), null, bytes.getPos());
    }

    @Override
    public boolean rename(Path from, Path to) throws IOException {
        count("rename");
        die();
        return super.rename(from, to);
    }

    @Override
    public boolean mkdirs(Path path) throws IOException {
        if (IS_INSIDE.get()) {
            return super.mkdirs(path);
        }
        count("mkdirs");
        hang();
        IS_INSIDE.set(true);
        try {
            return super.mkdirs(path);
        } finally {
            IS_INSIDE.set(false);
        }
    }

    private final class Watched extends OutputStream implements Abortable, org.apache.hadoop.fs.Syncable {
        private final FSDataOutputStream bytes;
        private final Path path;
        private boolean aborted;

        private Watched(FSDataOutputStream bytes, Path path) {
            this.bytes = bytes;
            this.path = path;
        }

        @Override
        public void write(int one) throws IOException {
            if (--bytesLeft < 0) {
                throw new IOException("broken");
            }
            bytes.write(one);
        }

        @Override
        public AbortableResult abort() {
            if (!isObjectStore) {
                throw new UnsupportedOperationException("abort");
            }
            aborted = true;
            count("abort");
            return null;
        }

        @Override
        public void hflush() throws IOException {
            bytes.flush();
            if (failsToFlush) {
                throw new IOException("flush");
            }
        }

        @Override
        public void hsync() throws IOException {
            hflush();
        }

        @Override
        public void close() throws IOException {
            bytes.close();
            if (aborted) {
                FaultyFiles.super.delete(path, false);
            }
        }
    }
}
