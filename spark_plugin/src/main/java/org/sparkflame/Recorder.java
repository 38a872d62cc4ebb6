package org.sparkflame;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;
import org.apache.hadoop.util.ShutdownHookManager;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The recording of this JVM: starts the agent, ends a file every interval and ships it. Nothing that goes wrong here
 * reaches the job.
 */
final class Recorder {
    private static final Logger LOG = LoggerFactory.getLogger("org.sparkflame");
    /** After an error, when a recording is next tried to be shipped. */
    private static final long RETRY_MILLISECONDS = 30_000;
    private static final long PREPARATION_MILLISECONDS = 500;
    /**
     * A cluster may end an executor by a signal while it stops; then Spark does not wait for the plugin. The hook runs
     * before those of Spark (40) and of the file systems (10), which the last recording still needs.
     */
    private static final int SHUTDOWN_PRIORITY = 60;
    private static volatile Recorder running;
    private static volatile boolean tagging;
    private static boolean hasHook;
    private static volatile LongConsumer beforeEnd = milliseconds -> { };

    private final LocalFolder folder;
    private final Shipping shipping;
    private final Schedule schedule;
    private final long shutdownMilliseconds;
    private final Thread thread;
    private final Object wake = new Object();
    private volatile boolean stopping;
    private long stopNanoseconds;
    private boolean ended;
    /** All own recordings that could be shipped are. */
    private volatile boolean finished;
    private final Trouble recording = new Trouble(LOG);

    private Recorder(LocalFolder folder, Shipping shipping, Settings settings) {
        this.folder = folder;
        this.shipping = shipping;
        schedule = settings.schedule();
        shutdownMilliseconds = settings.shutdownMilliseconds;
        thread = new Thread(this::run, "sparkflame-shipper");
        thread.setDaemon(true);
    }

    /** Whether tags are worth setting: once samples were taken, they may be again while a task runs. */
    static boolean isTagging() {
        return tagging;
    }

    /** What is to be done, in at most so many milliseconds, before a recording of this JVM ends. */
    static void beforeEnd(LongConsumer action) {
        beforeEnd = action;
    }

    private static void prepareEnd() {
        try {
            beforeEnd.accept(PREPARATION_MILLISECONDS);
        } catch (RuntimeException | LinkageError e) {
            LOG.debug("sparkflame: jobs of stages are unknown", e);
        }
    }

    /** Starts the only recorder of this JVM; null when there is one already. */
    static synchronized Recorder start(Settings settings, String wanted, String labels, LocalFolder folder,
            Shipping shipping) throws IOException {
        if (running != null) {
            return null;
        }
        NativeLibrary.load(folder.andOthers(settings.localRoots.folders()));
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
        arguments += settings.redaction.agentArguments();
        Agent.execute("start,jfr," + arguments + ",labels=" + labels + ",file=" + folder.next());
        Recorder recorder = new Recorder(folder, shipping, settings);
        folder.advance();
        running = recorder;
        tagging = true;
        recorder.thread.start();
        if (!hasHook) {
            ShutdownHookManager.get().addShutdownHook(() -> end(running), SHUTDOWN_PRIORITY);
            hasHook = true;
        }
        return recorder;
    }

    /** Ends a recording, if there is one; errors are only logged. */
    static void end(Recorder recorder) {
        try {
            if (recorder != null) {
                recorder.stop();
            }
        } catch (Throwable e) {
            LOG.warn("sparkflame: the last recording may be missing", e);
        }
    }

    /** Ends the recording and ships the rest; a second call only waits for that, no longer than the first. */
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
            join(shutdownMilliseconds / 2);
            if (!finished) {
                join(shutdownMilliseconds);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (again) {
            return;
        }
        if (finished || !thread.isAlive()) {
            LOG.info("sparkflame: the last recording was shipped {} ms after shutdown", sinceStop());
        } else {
            long waited = sinceStop();
            abandon();
            LOG.warn("sparkflame: {} ms after shutdown the last recording is not yet shipped to {}; it stays in {}", waited,
                    shipping.target(), folder);
        }
        running = null;
    }

    private void join(long milliseconds) throws InterruptedException {
        thread.join(Math.max(1, milliseconds - sinceStop()));
    }

    /** Its thread may hang in a shipment, and may wake when the next recorder uses the folder. */
    private synchronized void abandon() {
        shipping.abandon();
        endRecording();
    }

    private long sinceStop() {
        return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - stopNanoseconds);
    }

    private void run() {
        try {
            if (shipping.open()) {
                shipping.shipLeftovers(() -> !stopping);
            }
            while (waitForInterval()) {
                rotate();
                ship();
            }
            finish();
        } catch (Throwable e) {
            LOG.warn("sparkflame: recordings are no longer shipped", e);
        }
    }

    private void ship() {
        if (shipping.ship()) {
            shipping.shipLeftovers(() -> !stopping);
        }
    }

    /** Meanwhile tries again to ship what waits. False: it is time to stop. */
    private boolean waitForInterval() throws InterruptedException {
        long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(schedule.next());
        for (long left = until - System.nanoTime(); left > 0; left = until - System.nanoTime()) {
            long step = TimeUnit.NANOSECONDS.toMillis(left) + 1;
            if (!sleep(shipping.hasWaiting() ? Math.min(step, Schedule.vary(RETRY_MILLISECONDS, 0.2)) : step)) {
                return false;
            }
            if (shipping.hasWaiting()) {
                ship();
            }
        }
        return true;
    }

    /** False: it is time to stop. */
    private boolean sleep(long milliseconds) throws InterruptedException {
        long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(milliseconds);
        synchronized (wake) {
            long left = milliseconds;
            while (!stopping && left > 0) {
                wake.wait(left);
                left = TimeUnit.NANOSECONDS.toMillis(until - System.nanoTime());
            }
            return !stopping;
        }
    }

    private void rotate() {
        prepareEnd();
        synchronized (this) {
            if (!ended) {
                rotateNow();
            }
        }
    }

    private void rotateNow() {
        try {
            Agent.execute("rotate,file=" + folder.next());
            folder.advance();
            recording.isOver("recordings are written to " + folder + " again");
        } catch (Throwable e) {
            recording.tell("cannot begin a new recording in " + folder + "; the current one goes on", e);
            folder.advanceAfterError();
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
        prepareEnd();
        synchronized (this) {
            if (shipping.isAbandoned()) {
                return;
            }
            endRecording();
            folder.finish();
        }
        shipping.hurry();
        boolean works = shipping.ship();
        shipping.close();
        finished = true;
        if (works) {
            shipping.shipLeftovers(() -> sinceStop() < shutdownMilliseconds / 2);
        }
    }
}
