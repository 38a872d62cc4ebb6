/*
 * event_log_tasks.h - the events of tasks, which make up nearly all of an event log: read on any thread, stored on one.
 *
 * Owns: nothing; texts of a task_event are those of its line or of the application.
 */
#ifndef SPARK_EVENT_LOG_TASKS_H
#define SPARK_EVENT_LOG_TASKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/text_view.h"
#include "spark/application.h"
#include "spark/event_log/json_fields.h"
#include "spark/event_log/task_counters.h"

struct task_event {
    bool is_end;
    int64_t stage, stage_attempt;
    int64_t id, index, attempt, partition, launch_ms, finish_ms, getting_result_ms;
    struct text_view executor, host, locality, reason;
    bool speculative, failed, killed, has_metrics;
    uint32_t class_name, description, stack_trace, loss_reason, kill_reason; /* of a failure */
    struct task_metrics metrics;
    struct executor_peaks peaks;
    struct task_counter_range counters;
};

/* Reads the rest of an event whose "{" was read; the task's counters go to `counters`. Without a string table, only
 * for tasks that did not fail: fields->needs_strings is set for others. */
bool task_event_read(struct task_event *event, bool is_end, struct task_counters *counters,
                     struct json_fields_reader *fields) MUST_CHECK;
bool task_event_store(const struct task_event *event, struct application *application,
                      struct error *error) MUST_CHECK;

#endif
