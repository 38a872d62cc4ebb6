package org.sparkflame;

import java.util.concurrent.ThreadLocalRandom;

/**
 * How long the recordings of a JVM are: short at first, so that something of a job that is soon killed is shipped, then
 * longer and longer. Where they grow, lengths vary by a tenth, so that executors that start together do not ship at
 * the same time.
 */
final class Schedule {
    private static final int GROWTH = 4;
    private final long firstMilliseconds;
    private final long longestMilliseconds;
    private long nextMilliseconds;

    Schedule(long firstMilliseconds, long longestMilliseconds) {
        this.firstMilliseconds = firstMilliseconds;
        this.longestMilliseconds = Math.max(firstMilliseconds, longestMilliseconds);
        nextMilliseconds = firstMilliseconds;
    }

    /** Length of the next recording in milliseconds. */
    long next() {
        long length = nextMilliseconds;
        if (longestMilliseconds == firstMilliseconds) {
            return length;
        }
        nextMilliseconds = length > longestMilliseconds / GROWTH ? longestMilliseconds : length * GROWTH;
        return vary(length, 0.1);
    }

    /** The length, more or less by up to that share of it. */
    static long vary(long milliseconds, double share) {
        return Math.round(milliseconds * (1 + share * (2 * ThreadLocalRandom.current().nextDouble() - 1)));
    }

    @Override
    public String toString() {
        String first = firstMilliseconds / 1000 + " s";
        return longestMilliseconds == firstMilliseconds ? "every " + first
                : "after " + first + ", later every " + longestMilliseconds / 1000 + " s,";
    }
}
