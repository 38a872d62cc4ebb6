/*
 * log_tasks.h - what Spark's logs tell of an application without an event log: jobs, stages, tasks, executors.
 *
 * The driver's log tells all of it; logs of executors alone tell their tasks. Times are those of the lines, so their
 * resolution is the log's.
 *
 * Owns: what it remembers between lines, until log_tasks_release(). The application stays the caller's.
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
#include "spark/log_reader.h"

#define LOG_TASKS_NO_SAYING (-1)

struct log_tasks {
    struct application *application;
    int64_t last_job; /* whose stages are being told; -1: none yet */
    struct job_final_stage *finals;
    size_t final_count, final_capacity;
};

void log_tasks_init(struct log_tasks *tasks, struct application *application);
void log_tasks_release(struct log_tasks *tasks);
/* Which of the things that are looked for the head's message says. */
int log_tasks_saying(const struct log_head *head);
/* Takes one record with its saying. *executor is the executor whose log this is (0: not known yet) and is set when the log says it;
 * *is_driver is set by a line that only a driver writes. */
bool log_tasks_take(struct log_tasks *tasks, const struct log_record *record, int saying, uint32_t *executor,
                    bool *is_driver, struct error *error) MUST_CHECK;
/* Works out what only the end shows: which job a stage belongs to, counts of tasks. */
bool log_tasks_finish(struct log_tasks *tasks, struct error *error) MUST_CHECK;

#endif
