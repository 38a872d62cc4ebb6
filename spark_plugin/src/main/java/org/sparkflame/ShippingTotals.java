package org.sparkflame;

import java.util.concurrent.atomic.AtomicLong;

/** What one JVM has shipped. */
final class ShippingTotals {
    final AtomicLong objects = new AtomicLong();
    final AtomicLong bytes = new AtomicLong();
    final AtomicLong dropped = new AtomicLong();
    /** When the first of the recordings that wait was complete, in milliseconds since 1970; 0: none waits. */
    final AtomicLong waitingSince = new AtomicLong();

    void shipped(long size) {
        objects.incrementAndGet();
        bytes.addAndGet(size);
    }

    /** How long the oldest recording has been waiting. */
    long lagMilliseconds() {
        long since = waitingSince.get();
        return since == 0 ? 0 : Math.max(0, System.currentTimeMillis() - since);
    }
}
