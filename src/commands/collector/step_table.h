/*
 * step_table.h - numbers of owners by steps of time, which become longer as needed to stay within a limit.
 *
 * Owns: its cells, until step_table_release(). Threads: one at a time.
 * Limit: STEP_CELL_LIMIT cells; beyond, steps become twice as long.
 */
#ifndef COMMANDS_STEP_TABLE_H
#define COMMANDS_STEP_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/id_map.h"

#define STEP_VALUES 4
#define STEP_CELL_LIMIT 200000

struct step_cell {
    uint32_t owner;
    int64_t step; /* begins at step * step_ms */
    double values[STEP_VALUES];
};

struct step_table {
    int64_t step_ms;
    bool keeps_largest[STEP_VALUES]; /* of two values the larger; else their sum */
    struct step_cell *cells;
    size_t count, capacity;
    struct id_map index;
};

void step_table_init(struct step_table *table, int64_t step_ms);
void step_table_release(struct step_table *table);
/* Times before 1970 and after the year 9999 are left out. False: out of memory. */
bool step_table_add(struct step_table *table, uint32_t owner, int64_t time_ms, size_t which,
                    double value) MUST_CHECK;
/* Makes steps longer until there are at most so many between the first and the last. */
bool step_table_coarsen(struct step_table *table, int64_t most_steps) MUST_CHECK;
/* At least as long as those of another table. */
bool step_table_match(struct step_table *table, int64_t step_ms) MUST_CHECK;
/* Puts cells in the order of owners, then of time; none may be added then. */
void step_table_sort(struct step_table *table);

#endif
