#include "spark/fleet/fleet_table.h"

#include <stdlib.h>

#include "base/array.h"

#define LIMIT ((size_t)NO_ID - 1)
#define DAY_OFFSET (1 << 20)
#define HALF ((fleet_amount)1 << 31)
/* Squares of more would not fit when they are added up; 52,000 processors for a day. */
#define MOST_MICROSECONDS ((int64_t)1 << 52)

void fleet_table_release(struct fleet_table *table)
{
    free(table->cells);
    free(table->rows);
    id_map_release(&table->cell_index);
    id_map_release(&table->row_index);
    *table = (struct fleet_table){.cells = NULL};
}

static uint64_t cell_key(uint32_t owner, int32_t day, enum fleet_event event)
{
    return (uint64_t)owner << 32 | (uint32_t)(day + DAY_OFFSET) << 2 | (uint32_t)event;
}

static uint64_t row_key(uint32_t cell, uint32_t method)
{
    return (uint64_t)cell << 32 | method;
}

struct fleet_cell *fleet_table_cell(struct fleet_table *table, uint32_t owner, int32_t day,
                                    enum fleet_event event)
{
    if (!array_reserve(&table->cells, &table->cell_capacity, table->cell_count + 1, LIMIT))
        return NULL;
    uint32_t *place = id_map_place(&table->cell_index, cell_key(owner, day, event));
    if (place == NULL)
        return NULL;
    if (*place == NO_ID) {
        *place = (uint32_t)table->cell_count;
        table->cells[table->cell_count++] = (struct fleet_cell){.owner = owner, .day = day, .event = event};
    }
    return &table->cells[*place];
}

struct fleet_row *fleet_table_row(struct fleet_table *table, uint32_t cell, uint32_t method)
{
    if (!array_reserve(&table->rows, &table->row_capacity, table->row_count + 1, LIMIT))
        return NULL;
    uint32_t *place = id_map_place(&table->row_index, row_key(cell, method));
    if (place == NULL)
        return NULL;
    if (*place == NO_ID) {
        *place = (uint32_t)table->row_count;
        table->rows[table->row_count++] = (struct fleet_row){.cell = cell, .method = method};
    }
    return &table->rows[*place];
}

const struct fleet_cell *fleet_table_find_cell(const struct fleet_table *table, uint32_t owner, int32_t day,
                                               enum fleet_event event)
{
    uint32_t found = id_map_get(&table->cell_index, cell_key(owner, day, event));
    return found == NO_ID ? NULL : &table->cells[found];
}

const struct fleet_row *fleet_table_find_row(const struct fleet_table *table, uint32_t cell, uint32_t method)
{
    uint32_t found = id_map_get(&table->row_index, row_key(cell, method));
    return found == NO_ID ? NULL : &table->rows[found];
}

/* ---- adding tables ---- */

static fleet_amount microseconds(fleet_amount amount)
{
    fleet_amount whole = (amount >> 32) / 1000;
    return whole > MOST_MICROSECONDS ? MOST_MICROSECONDS : whole;
}

static void add_cell(struct fleet_cell *into, const struct fleet_cell *from, bool folds)
{
    into->weight += from->weight;
    into->samples += from->samples;
    if (!folds) {
        into->squares += from->squares;
        into->applications += from->applications;
    } else if (from->event == FLEET_CPU && from->weight > 0) {
        into->squares += microseconds(from->weight) * microseconds(from->weight);
        into->applications++;
    }
}

static void add_row(struct fleet_row *into, const struct fleet_row *from, const struct fleet_cell *cell,
                    bool folds)
{
    into->self += from->self;
    into->total += from->total;
    if (!folds) {
        into->squares += from->squares;
        into->products += from->products;
    } else if (cell->event == FLEET_CPU) {
        into->squares += microseconds(from->self) * microseconds(from->self);
        into->products += microseconds(from->self) * microseconds(cell->weight);
    }
}

/* `cells`: room for the number of each cell. */
static bool add(struct fleet_table *into, const struct fleet_table *from, const uint32_t *owners,
                const uint32_t *methods, bool folds, uint32_t *cells)
{
    for (size_t i = 0; i < from->cell_count; i++) {
        const struct fleet_cell *cell = &from->cells[i];
        struct fleet_cell *known = fleet_table_cell(into, owners[cell->owner], cell->day, cell->event);
        if (known == NULL)
            return false;
        cells[i] = (uint32_t)(known - into->cells);
        add_cell(known, cell, folds);
    }
    for (size_t i = 0; i < from->row_count; i++) {
        const struct fleet_row *row = &from->rows[i];
        uint32_t method = methods == NULL ? row->method : methods[row->method];
        struct fleet_row *known = fleet_table_row(into, cells[row->cell], method);
        if (known == NULL)
            return false;
        add_row(known, row, &from->cells[row->cell], folds);
    }
    return true;
}

static bool add_all(struct fleet_table *into, const struct fleet_table *from, const uint32_t *owners,
                    const uint32_t *methods, bool folds)
{
    uint32_t *cells = malloc((from->cell_count + 1) * sizeof(*cells));
    bool good = cells != NULL && add(into, from, owners, methods, folds, cells);
    free(cells);
    return good;
}

bool fleet_table_join(struct fleet_table *into, const struct fleet_table *from, const uint32_t *owners,
                      const uint32_t *methods)
{
    return add_all(into, from, owners, methods, false);
}

bool fleet_table_fold(struct fleet_table *into, const struct fleet_table *from, const uint32_t *groups)
{
    return add_all(into, from, groups, NULL, true);
}

int64_t fleet_amount_round(fleet_amount amount)
{
    fleet_amount whole = (amount + HALF) >> 32;
    return whole < 0 ? 0 : whole > INT64_MAX ? INT64_MAX : (int64_t)whole;
}
