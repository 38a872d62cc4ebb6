/*
 * task_buckets.h - which tasks belong to a stage attempt, or to an executor.
 *
 * Owns: its numbers, until task_buckets_release().
 * Threads: one at a time.
 * Limit: four bytes a task.
 */
#ifndef SPARK_ADVICE_TASK_BUCKETS_H
#define SPARK_ADVICE_TASK_BUCKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "spark/application.h"

struct task_buckets {
    uint32_t *tasks; /* numbers in application.tasks, of one bucket after the other, ascending in each */
    size_t *ends;    /* of each bucket, in `tasks` */
};

/* A bucket for each stage attempt. False: out of memory. */
bool task_buckets_by_stage(struct task_buckets *buckets, const struct application *application) MUST_CHECK;
/* A bucket for each executor; tasks whose executor is not known are in none. */
bool task_buckets_by_executor(struct task_buckets *buckets, const struct application *application) MUST_CHECK;
void task_buckets_release(struct task_buckets *buckets);

/* Where a bucket begins in `tasks`. */
static inline size_t task_buckets_begin(const struct task_buckets *buckets, size_t bucket)
{
    return bucket == 0 ? 0 : buckets->ends[bucket - 1];
}

#endif
