package org.sparkflame;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Switches the recording of this JVM: on or off as configured, until a control file changes it. */
final class RecorderSwitch {
    private static final Logger LOG = LoggerFactory.getLogger("org.sparkflame");
    private final RecorderSetup setup;
    private final boolean configuredOn;
    private Recorder recorder;
    /** Of the recorder; of the last try when there is none. */
    private String arguments;
    private boolean wasOn;
    private boolean ended;

    RecorderSwitch(RecorderSetup setup, boolean on) {
        this.setup = setup;
        configuredOn = on;
        set(on, setup.settings.arguments);
    }

    /** What the control file says to this JVM; "": nothing. */
    void apply(String text) {
        Control control = new Control(text);
        boolean concerned = control.concerns(setup.executor, System.currentTimeMillis());
        String configured = setup.settings.arguments;
        set(concerned ? control.isOn() : configuredOn, concerned ? control.arguments(configured) : configured);
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
        Recorder.end(recorder);
        recorder = null;
        setup.cleanUp();
    }
}
