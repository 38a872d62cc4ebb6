package org.sparkflame;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * What an executor asks the driver: one message for everything, with classes of the JDK only, since Spark's RPC may not
 * know those of the jar. The answer is a map, too.
 */
final class Question {
    static final String EXECUTOR = "executor";
    /** Whether this executor is to be recorded; answered by TAKE. */
    static final String WANTS_CHOICE = "choice";
    static final String STAGES = "stages";
    static final String TOTALS = "totals";

    static final String TAKE = "take";
    /** What the control file says to this executor, as the text of one. */
    static final String CONTROL = "control";
    /** Stage to job. */
    static final String JOBS = "jobs";
    /** When to ask again, in milliseconds; 0: not before there is something to ask. */
    static final String AGAIN = "again";

    private final HashMap<String, Object> message = new HashMap<>();

    Question(String executor) {
        message.put(EXECUTOR, executor);
    }

    Question choice() {
        message.put(WANTS_CHOICE, Boolean.TRUE);
        return this;
    }

    Question stages(int... stages) {
        message.put(STAGES, Arrays.copyOf(stages, stages.length));
        return this;
    }

    Question totals(long... totals) {
        message.put(TOTALS, Arrays.copyOf(totals, totals.length));
        return this;
    }

    HashMap<String, Object> message() {
        return message;
    }

    /** The value if it is there and of that class; else null. */
    static <T> T get(Map<?, ?> map, String key, Class<T> type) {
        Object value = map.get(key);
        return type.isInstance(value) ? type.cast(value) : null;
    }
}
