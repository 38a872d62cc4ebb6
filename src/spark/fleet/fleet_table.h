/*
 * fleet_table.h - what was spent by owner, day and event, and on each method in it. Owners are the caller's numbers:
 * applications while their recordings are read, then groups of applications.
 *
 * Amounts are whole numbers of 2^-32 nanoseconds or bytes, so sums do not depend on the order of adding. Of groups,
 * sums of squares say how much their applications differ among each other on a day.
 *
 * Owns: its cells and rows, until fleet_table_release(). All zero is an empty table.
 * Threads: one at a time.
 * Limit: 2^32 - 2 cells, and as many rows.
 */
#ifndef SPARK_FLEET_TABLE_H
#define SPARK_FLEET_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/id_map.h"

#define FLEET_NO_DAY (-(1 << 19)) /* of samples whose time is not known; days count from 1970 */

enum fleet_event {
    FLEET_CPU,   /* nanoseconds */
    FLEET_WALL,  /* nanoseconds */
    FLEET_ALLOC, /* bytes */
};
#define FLEET_EVENTS 3

typedef __int128 fleet_amount;

struct fleet_cell {
    uint32_t owner;
    int32_t day;
    enum fleet_event event;
    fleet_amount weight;
    fleet_amount samples;
    fleet_amount
        squares; /* of the weights of applications, in square microseconds; of groups and FLEET_CPU only */
    uint64_t applications; /* likewise: those with a weight */
};

struct fleet_row {
    uint32_t cell;
    uint32_t method; /* string number */
    fleet_amount self, total;
    /* Of groups and FLEET_CPU, in square microseconds: sums over applications of self * self and self * weight. */
    fleet_amount squares, products;
};

struct fleet_table {
    struct fleet_cell *cells;
    size_t cell_count, cell_capacity;
    struct fleet_row *rows;
    size_t row_count, row_capacity;
    struct id_map cell_index, row_index;
};

void fleet_table_release(struct fleet_table *table);
/* Both are added when new, and valid until the next one is added. NULL: out of memory. */
struct fleet_cell *fleet_table_cell(struct fleet_table *table, uint32_t owner, int32_t day,
                                    enum fleet_event event) MUST_CHECK;
struct fleet_row *fleet_table_row(struct fleet_table *table, uint32_t cell, uint32_t method) MUST_CHECK;
/* NULL: there is none. */
const struct fleet_cell *fleet_table_find_cell(const struct fleet_table *table, uint32_t owner, int32_t day,
                                               enum fleet_event event);
const struct fleet_row *fleet_table_find_row(const struct fleet_table *table, uint32_t cell, uint32_t method);
/* Adds all of `from`, whose owners and methods have other numbers here; `methods` NULL: the same. */
bool fleet_table_join(struct fleet_table *into, const struct fleet_table *from, const uint32_t *owners,
                      const uint32_t *methods) MUST_CHECK;
/* Adds all of `from`, whose owners are applications that are complete, to those of their groups. */
bool fleet_table_fold(struct fleet_table *into, const struct fleet_table *from,
                      const uint32_t *groups) MUST_CHECK;

/* 0 of less. */
int64_t fleet_amount_round(fleet_amount amount);

#endif
