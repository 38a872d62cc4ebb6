/*
 * run_changes.h - what a run of an application takes more of than earlier runs of it: as a whole, and in which methods.
 *
 * Judged are CPU time and allocated bytes, by the rule of measure_change.h; of methods, what they took themselves. A
 * method is judged only if it takes at least as much as would be a change, so memory follows the number of methods that
 * cost something, times that of runs.
 *
 * Owns: its items, until run_changes_release(). Borrows the sums.
 * Threads: one at a time.
 */
#ifndef SPARK_RUN_CHANGES_H
#define SPARK_RUN_CHANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "spark/baseline/measure_change.h"
#include "spark/fleet/fleet_sums.h"

/* CPU time and allocation, in milliseconds and bytes. */
#define RUN_MIN_CPU_MS 1000
#define RUN_MIN_BYTES ((double)(16 << 20))
#define RUN_MIN_SHARE 0.1 /* less is no change */
/* Of the whole run's: a method that grew by less makes no regression. */
#define RUN_METHOD_SHARE 0.05

struct run_change {
    enum fleet_event event; /* FLEET_CPU or FLEET_ALLOC */
    uint32_t method;        /* string of the sums; NO_STRING: the whole run */
    struct measure_change change;
    double whole_now, whole_before; /* of the run, and the median of the earlier ones */
    bool is_regression;
};

struct run_totals {
    double cpu_ms, wall_ms, alloc_bytes;
};

struct run_changes {
    const struct fleet_sums *sums;
    size_t runs;
    struct run_totals *totals; /* of each run */
    struct run_change *items;  /* whole runs first, then methods, the largest change first */
    size_t count, capacity;
};

/* Applications of the sums, which are not closed, are runs and have their numbers as names: "0" is the one that is
 * compared with 1 to runs - 1. To be released in any case. False: out of memory. */
bool run_changes_find(struct run_changes *changes, const struct fleet_sums *sums, size_t runs,
                      struct error *error) MUST_CHECK;
void run_changes_release(struct run_changes *changes);

#endif
