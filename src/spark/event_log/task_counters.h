/*
 * task_counters.h - a task's values of SQL counters, from the "Accumulables" of its end event.
 *
 * Owns: its list, until task_counters_release(). Threads: one at a time.
 */
#ifndef SPARK_TASK_COUNTERS_H
#define SPARK_TASK_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "input/json_reader.h"
#include "spark/event_log/json_fields.h"

struct task_counter {
    int64_t id; /* of Spark's accumulator */
    int64_t value;
};

/* Of several tasks, one after the other. */
struct task_counters {
    struct task_counter *items;
    size_t size, capacity;
};

/* Some of them. */
struct task_counter_range {
    struct task_counters *counters; /* NULL: they do not matter */
    size_t first, count;
};

void task_counters_release(struct task_counters *counters);
/* For FIELD_OTHER: adds counters of SQL to those that the struct task_counter_range names, and extends the range to
 * them. */
bool task_counters_read(struct json_fields_reader *fields, enum json_token first, void *place) MUST_CHECK;

#endif
