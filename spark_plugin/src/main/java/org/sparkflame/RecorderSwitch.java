package org.sparkflame;

import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The recording of this JVM over its life: on or off as configured, until a control file wants it otherwise. */
final class RecorderSwitch {
    private static final Logger LOG = LoggerFactory.getLogger("org.sparkflame");
    private final RecorderSetup setup;
    private final boolean configuredOn;
    private final ScheduledExecutorService watcher;
    private Recorder recorder;
    /** Of the recorder; of the last try when there is none. */
    private String arguments;
    private boolean wasOn;
    private boolean ended;

    RecorderSwitch(RecorderSetup setup, boolean on) {
        this.setup = setup;
        configuredOn = on;
        set(on, setup.settings.arguments);
        watcher = setup.settings.controlMilliseconds == 0 ? null : Executors.newSingleThreadScheduledExecutor(task -> {
            Thread thread = new Thread(task, "sparkflame-control");
            thread.setDaemon(true);
            return thread;
        });
        if (watcher != null) {
            long step = setup.settings.controlMilliseconds;
            watcher.scheduleWithFixedDelay(this::look, step, step, TimeUnit.MILLISECONDS);
        }
    }

    private void look() {
        try {
            Control control = new Control(setup.controlFile().read());
            boolean concerned = control.concerns(setup.executor, System.currentTimeMillis());
            String configured = setup.settings.arguments;
            set(concerned ? control.isOn() : configuredOn, concerned ? control.arguments(configured) : configured);
        } catch (Throwable e) {
            LOG.debug("sparkflame: the control file cannot be read", e);
        }
    }

    private synchronized void set(boolean on, String wanted) {
        if (ended || (on == wasOn && (!on || wanted.equals(arguments)))) {
            return;
        }
        if (recorder != null) {
            Recorder.end(recorder);
            LOG.info("sparkflame: {} is no longer profiled", setup.what());
        }
        wasOn = on;
        arguments = wanted;
        recorder = on ? setup.start(wanted) : null;
    }

    /** The last recording is out when this returns, or on its way. */
    synchronized void end() {
        ended = true;
        if (watcher != null) {
            watcher.shutdownNow();
        }
        Recorder.end(recorder);
        recorder = null;
    }
}
