package org.sparkflame;

import java.io.File;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.util.ShutdownHookManager;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The recording of this JVM: starts the agent, ends a file every interval and ships it. Nothing that goes wrong here
 * reaches the job.
 */
final class Recorder {
    private static final Logger LOG = LoggerFactory.getLogger("org.sparkflame");
    /** Kubernetes and dynamic allocation give little time; what is not out by then stays in the local folder. */
    private static final long LAST_SHIPMENT_MILLISECONDS = 2_000;
    /**
     * A cluster may end an executor by a signal while it stops by itself; then nobody waits for the plugin. The hook runs
     * before those of Spark (40) and of the file systems (10), which the last recording still needs.
     */
    private static final int SHUTDOWN_PRIORITY = 60;
    private static volatile Recorder running;
    private static volatile boolean tagging;

    private final LocalFolder folder;
    private final Shipper shipper;
    private final long intervalMilliseconds;
    private final Thread thread;
    private final Object wake = new Object();
    private boolean stopping;
    private long stopNanoseconds;
    private boolean ended;
    private final Trouble recording = new Trouble(LOG);
    private final Trouble shipping = new Trouble(LOG);

    private Recorder(LocalFolder folder, Shipper shipper, long intervalMilliseconds) {
        this.folder = folder;
        this.shipper = shipper;
        this.intervalMilliseconds = intervalMilliseconds;
        thread = new Thread(this::run, "sparkflame-shipper");
        thread.setDaemon(true);
    }

    /** Whether tags are worth setting: once samples were taken, they may be again while a task runs. */
    static boolean isTagging() {
        return tagging;
    }

    /** Starts the only recorder of this JVM; null when there is one already. `shipper` may be null. */
    static synchronized Recorder start(Settings settings, String wanted, String labels, LocalFolder folder,
            Shipper shipper) throws IOException {
        if (running != null) {
            return null;
        }
        NativeLibrary.load(settings.localDir, System.getProperty("java.io.tmpdir"), System.getProperty("user.dir"));
        String arguments = wanted;
        if (!arguments.contains("memlimit=")) {
            arguments += ",memlimit=" + settings.memoryLimitBytes;
        }
        if (settings.compact) {
            arguments += ",compact";
        }
        if (settings.python && !arguments.contains("python")) {
            arguments += ",python=" + settings.pythonRate;
        }
        Agent.execute("start,jfr," + arguments + ",labels=" + labels + ",file=" + folder.next());
        Recorder recorder = new Recorder(folder, shipper, settings.intervalMilliseconds);
        folder.advance();
        running = recorder;
        tagging = true;
        recorder.thread.start();
        ShutdownHookManager.get().addShutdownHook(() -> end(recorder), SHUTDOWN_PRIORITY);
        return recorder;
    }

    /** Ends a recording, if there is one; what goes wrong is only told. */
    static void end(Recorder recorder) {
        try {
            if (recorder != null) {
                recorder.stop();
            }
        } catch (Throwable e) {
            LOG.warn("sparkflame: the last recording may be missing", e);
        }
    }

    /** Ends the recording and brings the rest of it out; a second call only waits for it, and not longer than the first. */
    void stop() {
        boolean again;
        synchronized (wake) {
            again = stopping;
            if (!again) {
                stopNanoseconds = System.nanoTime();
            }
            stopping = true;
            wake.notifyAll();
        }
        try {
            thread.join(Math.max(1, LAST_SHIPMENT_MILLISECONDS - sinceStop()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (again) {
            return;
        }
        if (!thread.isAlive()) {
            LOG.info("sparkflame: the last recording was out {} ms after the end", sinceStop());
        } else {
            long waited = sinceStop();
            endRecording(); // its thread may hang in a shipment
            LOG.warn("sparkflame: after {} ms the last recording is still on its way to {}; it stays in {}", waited,
                    shipper == null ? folder : shipper.target(), folder);
        }
        running = null;
    }

    private long sinceStop() {
        return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - stopNanoseconds);
    }

    private void run() {
        try {
            openShipper();
            while (waitForInterval()) {
                rotate();
                ship();
            }
            finish();
        } catch (Throwable e) {
            LOG.warn("sparkflame: recordings are no longer shipped", e);
        }
    }

    /** False: it is time to stop. */
    private boolean waitForInterval() throws InterruptedException {
        long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(intervalMilliseconds);
        synchronized (wake) {
            long left = intervalMilliseconds;
            while (!stopping && left > 0) {
                wake.wait(left);
                left = TimeUnit.NANOSECONDS.toMillis(until - System.nanoTime());
            }
            return !stopping;
        }
    }

    private void openShipper() {
        if (shipper == null) {
            return;
        }
        try {
            shipper.open();
        } catch (Throwable e) {
            shipping.tell("cannot write to " + shipper.target() + ", recordings stay in " + folder + " until it can be", e);
        }
    }

    private void rotate() {
        try {
            Agent.execute("rotate,file=" + folder.next());
            folder.advance();
            recording.isOver("recordings are written to " + folder + " again");
        } catch (Throwable e) {
            recording.tell("samples are lost until recordings can be written to " + folder, e);
            folder.advanceIfBegun();
        }
    }

    private synchronized void endRecording() {
        try {
            if (!ended) {
                ended = true;
                Agent.execute("stop");
            }
        } catch (Throwable e) {
            recording.tell("the recording did not end well", e);
        }
    }

    private void finish() {
        endRecording();
        folder.finish();
        ship();
        if (shipper != null) {
            try {
                shipper.close();
            } catch (Throwable e) {
                shipping.tell("the end of " + shipper.target() + " may be missing", e);
            }
            folder.deleteIfEmpty();
        }
    }

    private void ship() {
        long dropped = folder.dropped();
        try {
            while (shipper != null && folder.oldest() != null) {
                shipper.ship(folder.oldest());
                folder.delete();
                shipping.isOver("recordings go to " + shipper.target() + " again");
            }
        } catch (Throwable e) {
            shipping.tell("cannot write to " + shipper.target() + ", recordings wait in " + folder, e);
        }
        if (dropped > 0 && shipper != null) {
            LOG.debug("sparkflame: {} recordings were dropped for want of local disk", dropped);
        }
    }
}
