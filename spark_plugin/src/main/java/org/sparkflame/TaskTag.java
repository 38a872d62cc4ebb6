package org.sparkflame;

import org.apache.spark.TaskContext;

/** The text that names a task in its samples. What all tasks of a stage share is in StageDetails. */
final class TaskTag {
    private TaskTag() {
    }

    static String of(TaskContext context) {
        return of(context.stageId(), context.stageAttemptNumber(), context.partitionId(), context.attemptNumber(),
                context.taskAttemptId(), context.getLocalProperty("spark.sql.execution.id"));
    }

    /** The stage comes first: StageDetails are found by it. */
    static String of(int stage, int stageAttempt, int partition, int attempt, long task, String sql) {
        return new Labels().add("stage", stage).add("stage_attempt", stageAttempt).add("partition", partition)
                .add("attempt", attempt).add("task", task).add("sql", sql).toString();
    }
}
