/*
 * log_tasks.h - jobs, stages, tasks and executors from Spark's logs, without an event log.
 *
 * The driver's log has all of it, logs of executors only their tasks. Times are those of the lines, with their
 * resolution.
 *
 * Owns: its state between lines, until log_tasks_release(). The application stays the caller's.
 * Threads: one at a time.
 */
#ifndef SPARK_LOG_TASKS_H
#define SPARK_LOG_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "spark/application.h"
#include "spark/log/log_reader.h"

#define LOG_TASKS_NO_KIND (-1)

struct log_tasks {
    struct application *application;
    int64_t last_job; /* job whose stages are being logged; -1: none yet */
    struct job_final_stage *finals;
    size_t final_count, final_capacity;
};

void log_tasks_init(struct log_tasks *tasks, struct application *application);
void log_tasks_release(struct log_tasks *tasks);
/* The kind of the head's message. */
int log_tasks_message_kind(const struct log_head *head);
/* Takes one record with its message kind. *executor is the executor whose log this is (0: not known yet) and is set
 * once known; *is_driver is set by a line that only a driver writes. */
bool log_tasks_take(struct log_tasks *tasks, const struct log_record *record, int message_kind,
                    uint32_t *executor, bool *is_driver, struct error *error) MUST_CHECK;
/* Call at the end: assigns stages to jobs, counts tasks. */
bool log_tasks_finish(struct log_tasks *tasks, struct error *error) MUST_CHECK;

#endif
