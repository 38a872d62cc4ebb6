package org.sparkflame;

import org.apache.spark.TaskContext;

/** The text that names a task in its samples. */
final class TaskTag {
    private static final int TEXT_LIMIT = 100;

    private TaskTag() {
    }

    static String of(TaskContext context) {
        return of(context.stageId(), context.stageAttemptNumber(), context.partitionId(), context.attemptNumber(),
                context.taskAttemptId(), context.getLocalProperty("spark.sql.execution.id"),
                context.getLocalProperty("spark.jobGroup.id"));
    }

    static String of(int stage, int stageAttempt, int partition, int attempt, long task, String sql, String group) {
        StringBuilder text = new StringBuilder(96);
        text.append("stage=").append(stage).append(";stage_attempt=").append(stageAttempt);
        text.append(";partition=").append(partition).append(";attempt=").append(attempt);
        text.append(";task=").append(task);
        append(text, ";sql=", sql);
        append(text, ";group=", group);
        return text.toString();
    }

    /** ';', '=' and '%' have a meaning in tags. */
    private static void append(StringBuilder text, String key, String value) {
        if (value == null || value.isEmpty()) {
            return;
        }
        text.append(key);
        for (int i = 0; i < Math.min(value.length(), TEXT_LIMIT); i++) {
            char c = value.charAt(i);
            if (c == ';' || c == '=' || c == '%' || c < ' ') {
                text.append('%').append(Character.forDigit(c >> 4, 16)).append(Character.forDigit(c & 15, 16));
            } else {
                text.append(c);
            }
        }
    }
}
