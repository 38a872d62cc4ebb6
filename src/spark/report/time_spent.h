/*
 * time_spent.h - where the time of an application's tasks went, and how much of the executors' cores was idle.
 *
 * Owns: nothing.
 */
#ifndef SPARK_TIME_SPENT_H
#define SPARK_TIME_SPENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attributes.h"
#include "spark/application.h"
#include "spark/core_timeline.h"
#include "spark/report/json_out.h"
#include "spark/metrics/metric_curves.h"

struct time_spent {
#define TIME_PART(field, label) int64_t field;
#include "spark/report/time_parts.def"
#define IDLE_PART(field, label) int64_t field;
#include "spark/report/time_parts.def"
    int64_t core_ms; /* of all executors' cores while they were there; 0: not known */
    int64_t idle_ms; /* of them without a task */
};

/* Parts do not overlap: known time of Python workers and of writing is subtracted from waiting. All together are the
 * executors' core time. False: no memory. */
bool time_spent_sum_up(struct time_spent *spent, const struct application *application,
                       const struct core_timeline *timeline, const struct metric_curves *curves) MUST_CHECK;
/* Of the tasks, without idle cores. */
int64_t time_spent_whole_ms(const struct time_spent *spent);
void time_spent_write_json(const struct time_spent *spent, struct json_out *out);
void time_spent_write_text(const struct time_spent *spent, struct output *output);

#endif
