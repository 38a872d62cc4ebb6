/*
 * fleet_changes.h - which methods take more of their group's CPU time in the last seven days than in the seven before.
 *
 * Owns: its lists, until fleet_changes_release(). Borrows the sums, which are finished.
 * Threads: one at a time.
 */
#ifndef SPARK_FLEET_CHANGES_H
#define SPARK_FLEET_CHANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "spark/fleet/fleet_sums.h"
#include "spark/fleet/share_change.h"

#define FLEET_PERIOD_DAYS 7

enum fleet_period { FLEET_BEFORE, FLEET_NOW };

struct fleet_change {
    uint32_t group, method;
    struct share_change share; /* self of the group's CPU time */
    double total_before, total_now;
    int64_t more_ns; /* CPU time of the last seven days beyond the share before */
};

struct fleet_changes {
    const struct fleet_sums *sums;
    int32_t last_day;           /* of the last seven; FLEET_NO_DAY: there are no times */
    struct fleet_table periods; /* CPU time by group; days are enum fleet_period */
    struct fleet_change *items; /* the largest first */
    size_t count, capacity;
};

/* To be released in any case. False: out of memory. */
bool fleet_changes_find(struct fleet_changes *changes, const struct fleet_sums *sums,
                        int32_t last_day) MUST_CHECK;
void fleet_changes_release(struct fleet_changes *changes);
/* Applications of a group on each day of a period, added up. */
uint64_t fleet_changes_runs(const struct fleet_changes *changes, uint32_t group, enum fleet_period period);

#endif
