/*
 * baseline.h - a run compared with the median of earlier runs of the same application: as a whole, query by query,
 * stage by stage, method by method.
 *
 *     baseline_init(&baseline, application, profile, 0.1, error)
 *     baseline_add(…) for each earlier run
 *     baseline_finish(&baseline, error)
 *
 * Owns: everything, until baseline_release(); borrows nothing between calls.
 * Threads: one at a time.
 * Limit: about 40 bytes for each item of the run and each earlier run.
 */
#ifndef SPARK_BASELINE_H
#define SPARK_BASELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "model/profile.h"
#include "spark/application.h"
#include "spark/baseline/measure_change.h"
#include "spark/baseline/run_summary.h"

enum baseline_verdict {
    BASELINE_SAME,
    BASELINE_SLOWER,
    BASELINE_FASTER,
    BASELINE_NEW, /* no earlier run has it */
    BASELINE_VERDICTS,
};

struct baseline_row {
    struct measure_change changes[RUN_MEASURES]; /* of values that are not known: CHANGE_UNKNOWN */
    enum baseline_verdict verdict;               /* of wall and core time */
    size_t runs;                                 /* how many earlier ones have it */
    bool plan_changed;                           /* a query that no earlier run has with this plan */
    double more_ms; /* by how much it is slower, in wall time or else core time */
};

/* What an earlier run has in place of an item. */
struct baseline_value {
    double values[RUN_MEASURES]; /* below 0: not known */
    double samples;
    int level; /* of the key by which it was found; RUN_KEYS: it was not */
};

struct baseline_run {
    uint32_t id, name; /* in baseline.now.strings */
    int64_t start_ms;
    struct baseline_value *values; /* one per item of the run that is compared */
};

struct baseline {
    struct run_summary now;
    double share; /* 0.1: less than 10 % is no change */
    struct baseline_run *runs;
    size_t run_count, run_capacity;
    struct baseline_row *rows; /* one per item of `now` */
    uint32_t *order;           /* items that changed: by kind, and the largest change first */
    size_t order_size;
};

bool baseline_init(struct baseline *baseline, const struct application *application,
                   const struct profile *profile, double share, struct error *error) MUST_CHECK;
void baseline_release(struct baseline *baseline);
/* An earlier run; `profile` may be NULL. */
bool baseline_add(struct baseline *baseline, const struct application *application,
                  const struct profile *profile, struct error *error) MUST_CHECK;
/* Sets rows and order. */
bool baseline_finish(struct baseline *baseline, struct error *error) MUST_CHECK;
/* How many items of this kind are slower. */
size_t baseline_count_slower(const struct baseline *baseline, enum run_item_kind kind);
/* "slower" */
const char *baseline_verdict_name(enum baseline_verdict verdict);
/* "query" */
const char *baseline_kind_name(enum run_item_kind kind);
/* What the other measures say of a row that is slower or faster: "it handles 40 % more rows"; "" if nothing. */
const char *baseline_reason(const struct baseline_row *row, char *text, size_t size);

#endif
