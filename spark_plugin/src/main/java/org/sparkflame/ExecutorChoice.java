package org.sparkflame;

import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.DoubleSupplier;

/**
 * Which executors are profiled. The driver decides, since only it sees them all: of any number of executors that ask,
 * the fraction is taken, rounded up, so that at least one is. Each one but the first is a random one of its share.
 */
final class ExecutorChoice {
    private final double fraction;
    private final int first;
    private final DoubleSupplier random;
    private final Map<String, Boolean> answers = new HashMap<>();
    private long asked;
    private long taken;
    /** Which of those who ask is the next. */
    private double next;

    ExecutorChoice(double fraction, int first) {
        this(fraction, first, () -> ThreadLocalRandom.current().nextDouble());
    }

    ExecutorChoice(double fraction, int first, DoubleSupplier random) {
        this.fraction = fraction;
        this.first = first;
        this.random = random;
    }

    /** The same answer each time for one executor. */
    synchronized boolean take(String executor) {
        return answers.computeIfAbsent(executor, id -> {
            boolean take = fraction > 0 && taken < first && asked >= Math.floor(next);
            asked++;
            if (take) {
                taken++;
                next = (taken + random.getAsDouble()) / fraction;
            }
            return take;
        });
    }

    /** The decision without the driver; null if the driver has to be asked. */
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
