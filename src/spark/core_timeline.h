/*
 * core_timeline.h - the cores of an application's executors over time: how many there were, how many had a task, and
 * why the others had none.
 *
 * Executors count from the moment they were added to the moment they were removed; a task holds spark.task.cpus cores.
 *
 * Owns: its points, until core_timeline_release().
 * Threads: one at a time.
 * Limit: about 32 bytes a task while it is made, 64 bytes per millisecond with an event afterwards.
 */
#ifndef SPARK_CORE_TIMELINE_H
#define SPARK_CORE_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "spark/application.h"

/* Core-milliseconds. */
struct core_sums {
    double there;   /* of all cores */
    double busy;    /* with a task */
    double driver;  /* idle while no task ran or waited: the driver worked, or nobody */
    double pending; /* idle though tasks waited to be started: scheduling, locality */
    double tail;    /* idle while tasks ran, and none was left to start */
    double running; /* milliseconds in which a task ran or waited; not of cores */
};

struct core_point {
    int64_t time_ms;
    struct core_sums sums; /* up to this time */
};

struct core_timeline {
    struct core_point *points; /* by time */
    size_t size;
    double max_cores; /* at one time */
};

bool core_timeline_init(struct core_timeline *timeline, const struct application *application,
                        struct error *error) MUST_CHECK;
void core_timeline_release(struct core_timeline *timeline);
/* Between two moments. */
struct core_sums core_timeline_between(const struct core_timeline *timeline, int64_t from_ms, int64_t to_ms);
struct core_sums core_timeline_all(const struct core_timeline *timeline);

#endif
