/*
 * stage_statistics.h - durations of the tasks of each stage: median, slowest, skew.
 *
 * Owns: its rows, until stage_statistics_release().
 */
#ifndef SPARK_STAGE_STATISTICS_H
#define SPARK_STAGE_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "spark/application.h"

/* Of the tasks that succeeded, by duration. */
struct stage_row {
    size_t count;
    int64_t least_ms;
    int64_t median_ms;
    int64_t p95_ms;
    int64_t most_ms;
    int64_t sum_ms;
    uint32_t slowest_task; /* number in application.tasks; UINT32_MAX: none */
};

struct stage_statistics {
    struct stage_row *rows; /* one per stage of the application */
    size_t size;
};

bool stage_statistics_init(struct stage_statistics *statistics, const struct application *application,
                           struct error *error) MUST_CHECK;
void stage_statistics_release(struct stage_statistics *statistics);
/* Slowest task over median task; 1 if that is meaningless. */
double stage_row_skew(const struct stage_row *row);

#endif
