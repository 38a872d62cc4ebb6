package org.sparkflame;

import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/**
 * Which executors are profiled. The driver decides, since only it sees them all: of any number of executors that ask,
 * the fraction is taken, rounded up, so that at least one is.
 */
final class ExecutorChoice {
    private final double fraction;
    private final int first;
    private final Map<String, Boolean> answers = new HashMap<>();
    private long asked;
    private long taken;

    ExecutorChoice(double fraction, int first) {
        this.fraction = fraction;
        this.first = first;
    }

    /** The same answer each time for one executor. */
    synchronized boolean take(String executor) {
        return answers.computeIfAbsent(executor, id -> {
            asked++;
            boolean take = taken < first && taken < Math.ceil(asked * fraction - 1e-9);
            taken += take ? 1 : 0;
            return take;
        });
    }

    /** What can be said without the driver: null when it has to be asked. */
    static Boolean decideAlone(Settings settings, String executor, Set<String> hostNames) {
        if (!settings.enabled || !settings.executor) {
            return false;
        }
        if (!settings.ids.isEmpty() && !settings.ids.contains(executor)) {
            return false;
        }
        if (!settings.hosts.isEmpty() && Collections.disjoint(settings.hosts, hostNames)) {
            return false;
        }
        return settings.fraction >= 1 && settings.first == Integer.MAX_VALUE ? true : null;
    }
}
