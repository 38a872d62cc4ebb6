package org.sparkflame;

import java.util.HashMap;
import java.util.Map;

/**
 * In the driver: answers what executors ask. Never blocks, since one thread serves all plugins, never throws, and
 * answers with classes of the JDK only.
 */
final class DriverAnswers {
    /** All executors together ask no more often than this in a second. */
    private static final int ASKS_PER_SECOND = 100;
    private final ExecutorChoice choice;
    private final ControlChoice control;
    private final JobsOfStages jobs;
    private final ExecutorTotals totals;
    private final long pollMilliseconds;

    /** Executors ask every `pollMilliseconds`, or less often if they are many; 0: only when a recording ends. */
    DriverAnswers(ExecutorChoice choice, ControlChoice control, JobsOfStages jobs, ExecutorTotals totals,
            long pollMilliseconds) {
        this.choice = choice;
        this.control = control;
        this.jobs = jobs;
        this.totals = totals;
        this.pollMilliseconds = pollMilliseconds;
    }

    /** A map; null for what is not a question. */
    Object answer(Object message) {
        Map<?, ?> question = message instanceof Map ? (Map<?, ?>) message : null;
        String executor = question == null ? null : Question.get(question, Question.EXECUTOR, String.class);
        if (executor == null) {
            return null;
        }
        HashMap<String, Object> answer = new HashMap<>();
        if (question.containsKey(Question.WANTS_CHOICE)) {
            answer.put(Question.TAKE, choice.take(executor));
        }
        int[] stages = Question.get(question, Question.STAGES, int[].class);
        if (stages != null) {
            answer.put(Question.JOBS, jobsOf(stages));
        }
        long[] told = Question.get(question, Question.TOTALS, long[].class);
        if (told != null) {
            totals.put(executor, told);
        }
        answer.put(Question.CONTROL, control.to(executor, System.currentTimeMillis()));
        answer.put(Question.AGAIN, again());
        return answer;
    }

    private HashMap<Integer, Integer> jobsOf(int... stages) {
        HashMap<Integer, Integer> found = new HashMap<>();
        for (int stage : stages) {
            Integer job = jobs.jobOf(stage);
            if (job != null) {
                found.put(stage, job);
            }
        }
        return found;
    }

    private long again() {
        return pollMilliseconds == 0 ? 0 : Math.max(pollMilliseconds, totals.executors() * 1000L / ASKS_PER_SECOND);
    }
}
