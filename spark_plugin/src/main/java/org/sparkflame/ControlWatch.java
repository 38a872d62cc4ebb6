package org.sparkflame;

import java.io.IOException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** In the driver: looks at the control file now and then. Executors ask the driver for it. */
final class ControlWatch {
    private static final Logger LOG = LoggerFactory.getLogger("org.sparkflame");
    private final RecorderSetup setup;
    private final ControlChoice choice;
    private final RecorderSwitch recording;
    private final ScheduledExecutorService thread;

    ControlWatch(RecorderSetup setup, ControlChoice choice, RecorderSwitch recording) {
        this.setup = setup;
        this.choice = choice;
        this.recording = recording;
        long step = setup.settings.controlMilliseconds;
        thread = step == 0 ? null : Executors.newSingleThreadScheduledExecutor(task -> {
            Thread made = new Thread(task, "sparkflame-control");
            made.setDaemon(true);
            return made;
        });
        if (thread != null) {
            thread.scheduleWithFixedDelay(this::look, step, step, TimeUnit.MILLISECONDS);
        }
    }

    private void look() {
        try {
            if (choice.set(setup.readControlFile()) && !choice.problem().isEmpty()) {
                LOG.warn("sparkflame: the control file is ignored: {}", choice.problem());
            }
            recording.apply(choice.to(setup.executor, System.currentTimeMillis()));
        } catch (IOException e) {
            LOG.debug("sparkflame: the control file cannot be read", e);
        } catch (Throwable e) {
            LOG.warn("sparkflame: the control file has no effect", e);
        }
    }

    void stop() {
        if (thread != null) {
            thread.shutdownNow();
        }
    }
}
