package org.sparkflame;

import java.util.Collections;
import java.util.HashSet;
import java.util.Set;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerExecutorRemoved;

/**
 * In the driver: whom the control file concerns, also where it describes executors instead of naming them. Who was
 * chosen stays chosen until it ends or the file changes.
 */
final class ControlChoice extends SparkListener {
    /** One thread of the driver answers all executors, which may be thousands. */
    private static final long LOOK_MILLISECONDS = 5_000;
    private final ExecutorPace pace;
    private String text = "";
    private Control control = new Control("");
    private ExecutorChoice share;
    private final Set<String> chosen = new HashSet<>();
    /** As of the last look. */
    private Set<String> slow = Collections.emptySet();
    private Set<String> straggling = Collections.emptySet();
    private boolean hasLooked;
    private long lookedAt;

    ControlChoice(ExecutorPace pace) {
        this.pace = pace;
    }

    /** The contents of the file from now on. True: they are others than before. */
    synchronized boolean set(String now) {
        if (now.equals(text)) {
            return false;
        }
        text = now;
        control = new Control(now);
        share = new ExecutorChoice(control.fraction(), Integer.MAX_VALUE);
        chosen.clear();
        hasLooked = false;
        return true;
    }

    @Override
    public synchronized void onExecutorRemoved(SparkListenerExecutorRemoved removed) {
        chosen.remove(removed.executorId());
    }

    synchronized String problem() {
        return control.problem();
    }

    /** What the file says to a JVM: the text of a control file; "": nothing. */
    synchronized String to(String executor, long nowMilliseconds) {
        if (!control.concerns(executor, nowMilliseconds) || !isChosen(executor, nowMilliseconds)) {
            return "";
        }
        return control.forOne();
    }

    private boolean isChosen(String executor, long nowMilliseconds) {
        int slowest;
        try {
            slowest = control.slowest();
        } catch (SettingException e) {
            return false;
        }
        boolean all = slowest == 0 && control.fraction() >= 1 && !control.straggling();
        if (all || chosen.contains(executor)) {
            return true;
        }
        if ("driver".equals(executor)) {
            return false;
        }
        look(slowest, nowMilliseconds);
        boolean now = (chosen.size() < slowest && slow.contains(executor)) || straggling.contains(executor)
                || (control.fraction() < 1 && share.take(executor));
        if (now) {
            chosen.add(executor);
        }
        return now;
    }

    private void look(int slowest, long nowMilliseconds) {
        long age = nowMilliseconds - lookedAt;
        if (hasLooked && age >= 0 && age < LOOK_MILLISECONDS) {
            return;
        }
        hasLooked = true;
        lookedAt = nowMilliseconds;
        slow = slowest > 0 ? new HashSet<>(pace.slowest(slowest)) : Collections.emptySet();
        straggling = control.straggling() ? pace.straggling(nowMilliseconds) : Collections.emptySet();
    }
}
