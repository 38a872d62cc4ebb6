#include "commands/collector/step_table.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/hash.h"

#define LATEST_MS INT64_C(253402300800000)

void step_table_init(struct step_table *table, int64_t step_ms)
{
    *table = (struct step_table){.step_ms = step_ms};
    id_map_init(&table->index);
}

void step_table_release(struct step_table *table)
{
    id_map_release(&table->index);
    free(table->cells);
    *table = (struct step_table){.step_ms = 1};
}

/* NULL: out of memory. */
static struct step_cell *place_cell(struct step_table *table, uint32_t owner, int64_t step)
{
    /* Of cells with the same hash, the later ones take the next free key. */
    uint64_t key = hash_mix((uint64_t)owner ^ HASH_SEED, (uint64_t)step + HASH_MULTIPLIER);
    for (;; key++) {
        uint32_t *place = id_map_place(&table->index, key);
        if (place == NULL)
            return NULL;
        if (*place != NO_ID) {
            struct step_cell *cell = &table->cells[*place];
            if (cell->owner == owner && cell->step == step)
                return cell;
            continue;
        }
        if (!array_reserve(&table->cells, &table->capacity, table->count + 1, (size_t)NO_ID - 1))
            return NULL;
        *place = (uint32_t)table->count;
        table->cells[table->count] = (struct step_cell){.owner = owner, .step = step};
        return &table->cells[table->count++];
    }
}

static void add_value(const struct step_table *table, struct step_cell *cell, size_t which, double value)
{
    if (!table->keeps_largest[which])
        cell->values[which] += value;
    else if (value > cell->values[which])
        cell->values[which] = value;
}

/* Each two steps become one. */
static bool halve(struct step_table *table)
{
    struct step_table longer = {.step_ms = table->step_ms * 2};
    id_map_init(&longer.index);
    for (size_t i = 0; i < STEP_VALUES; i++)
        longer.keeps_largest[i] = table->keeps_largest[i];
    bool good = true;
    for (size_t i = 0; good && i < table->count; i++) {
        struct step_cell *cell = place_cell(&longer, table->cells[i].owner, table->cells[i].step / 2);
        good = cell != NULL;
        for (size_t which = 0; good && which < STEP_VALUES; which++)
            add_value(&longer, cell, which, table->cells[i].values[which]);
    }
    if (good) {
        struct step_table old = *table;
        *table = longer;
        longer = old;
    }
    step_table_release(&longer);
    return good;
}

bool step_table_add(struct step_table *table, uint32_t owner, int64_t time_ms, size_t which, double value)
{
    if (time_ms < 0 || time_ms >= LATEST_MS)
        return true;
    /* With one step for all of time there is a cell for each owner, however many these are. */
    while (table->count >= STEP_CELL_LIMIT && table->step_ms < LATEST_MS)
        if (!halve(table))
            return false;
    struct step_cell *cell = place_cell(table, owner, time_ms / table->step_ms);
    if (cell != NULL)
        add_value(table, cell, which, value);
    return cell != NULL;
}

bool step_table_coarsen(struct step_table *table, int64_t most_steps)
{
    for (;;) {
        int64_t first = INT64_MAX, last = 0;
        for (size_t i = 0; i < table->count; i++) {
            first = table->cells[i].step < first ? table->cells[i].step : first;
            last = table->cells[i].step > last ? table->cells[i].step : last;
        }
        if (table->count == 0 || last - first < most_steps)
            return true;
        if (!halve(table))
            return false;
    }
}

bool step_table_match(struct step_table *table, int64_t step_ms)
{
    while (table->step_ms < step_ms)
        if (!halve(table))
            return false;
    return true;
}

static int compare_cells(const void *left, const void *right)
{
    const struct step_cell *a = left, *b = right;
    if (a->owner != b->owner)
        return a->owner < b->owner ? -1 : 1;
    return (a->step > b->step) - (a->step < b->step);
}

void step_table_sort(struct step_table *table)
{
    if (table->count > 0)
        qsort(table->cells, table->count, sizeof(*table->cells), compare_cells);
}
