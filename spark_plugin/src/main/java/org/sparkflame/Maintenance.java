package org.sparkflame;

import java.io.IOException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** In the driver: joins the recordings of its application now and then, and deletes old ones of its group. */
final class Maintenance {
    private static final Logger LOG = LoggerFactory.getLogger("org.sparkflame");
    private static final long STOP_MILLISECONDS = 1000;
    private static final long RUNS_MILLISECONDS = 3_600_000;
    /** Of one round; the rest has another day. */
    private static final int ENDED_LIMIT = 100;
    private final Settings settings;
    private final ObjectWriter store;
    private final Path group;
    private final Path application;
    private final HadoopUser user;
    private final Joining joining;
    private final ScheduledExecutorService thread;
    private final Trouble trouble = new Trouble(LOG);
    private volatile boolean stopping;

    /** @param application the folder of this application, in that of its group */
    Maintenance(Settings settings, Path application, Configuration configuration, HadoopUser user) {
        this.settings = settings;
        this.application = application;
        this.user = user;
        group = application.getParent();
        store = new ObjectWriter(group, configuration);
        joining = new Joining(store, application, () -> !stopping);
        thread = Executors.newSingleThreadScheduledExecutor(task -> {
            Thread made = new Thread(task, "sparkflame-maintenance");
            made.setDaemon(true);
            return made;
        });
        if (settings.hasRetention()) {
            plan(this::retain, 0, RUNS_MILLISECONDS);
        }
        if (settings.joinMilliseconds > 0) {
            plan(this::join, Schedule.vary(settings.joinMilliseconds, 0.1), settings.joinMilliseconds);
        }
    }

    private interface Work {
        void run() throws Exception;
    }

    private void plan(Work work, long first, long step) {
        thread.scheduleWithFixedDelay(() -> run(work), first, step, TimeUnit.MILLISECONDS);
    }

    private void run(Work work) {
        try {
            user.run(() -> {
                work.run();
                return null;
            });
            trouble.isOver("recordings in " + group + " are joined and deleted again");
        } catch (Throwable e) {
            store.reopen();
            if (!stopping) {
                trouble.tell("recordings in " + group + " cannot be joined or deleted now", e);
            }
        }
    }

    private void join() throws IOException {
        if (store.fileSystem().exists(application)) {
            int fewer = joining.join(RecordingRange.FACTOR);
            LOG.debug("sparkflame: {} has {} objects fewer", application, fewer);
        }
    }

    private void retain() throws IOException {
        if (settings.keepMilliseconds < Long.MAX_VALUE || settings.keepBytes < Long.MAX_VALUE) {
            Retention retention = new Retention(store, group, application.getName(), settings.keepMilliseconds, settings.keepBytes,
                    Math.max(RUNS_MILLISECONDS, 2 * settings.longestMilliseconds()));
            int joined = 0;
            for (Path ended : store.fileSystem().exists(group) ? retention.run(() -> !stopping) : new java.util.ArrayList<Path>()) {
                if (settings.joinMilliseconds > 0 && joined < ENDED_LIMIT && !stopping) {
                    joined += new Joining(store, ended, () -> !stopping).join(2) > 0 ? 1 : 0;
                }
            }
        }
        if (settings.keepApplicationBytes < Long.MAX_VALUE && store.fileSystem().exists(application)) {
            Retention.limit(store, application, settings.keepApplicationBytes, () -> !stopping);
        }
    }

    /** What is being written stays hidden, and the next one goes on. */
    void stop() {
        stopping = true;
        thread.shutdown();
        try {
            thread.awaitTermination(STOP_MILLISECONDS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
