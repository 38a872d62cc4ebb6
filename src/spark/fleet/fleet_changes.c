#include "spark/fleet/fleet_changes.h"

#include <stdlib.h>

#include "base/array.h"

#define MOST_NS 9e18

static bool sum_periods(const struct fleet_table *days, int32_t last_day, struct fleet_table *periods)
{
    uint32_t *cells = malloc((days->cell_count + 1) * sizeof(*cells));
    bool good = cells != NULL;
    for (size_t i = 0; good && i < days->cell_count; i++) {
        const struct fleet_cell *cell = &days->cells[i];
        int64_t ago = cell->day == FLEET_NO_DAY ? -1 : (int64_t)last_day - cell->day;
        cells[i] = NO_ID;
        if (cell->event != FLEET_CPU || ago < 0 || ago >= 2 * FLEET_PERIOD_DAYS)
            continue;
        struct fleet_cell *sum = fleet_table_cell(
            periods, cell->owner, ago < FLEET_PERIOD_DAYS ? FLEET_NOW : FLEET_BEFORE, FLEET_CPU);
        good = sum != NULL;
        if (!good)
            break;
        cells[i] = (uint32_t)(sum - periods->cells);
        sum->weight += cell->weight;
        sum->samples += cell->samples;
        sum->squares += cell->squares;
        sum->applications += cell->applications;
    }
    for (size_t i = 0; good && i < days->row_count; i++) {
        const struct fleet_row *row = &days->rows[i];
        struct fleet_row *sum =
            cells[row->cell] == NO_ID ? NULL : fleet_table_row(periods, cells[row->cell], row->method);
        good = sum != NULL || cells[row->cell] == NO_ID;
        if (sum == NULL)
            continue;
        sum->self += row->self;
        sum->total += row->total;
        sum->squares += row->squares;
        sum->products += row->products;
    }
    free(cells);
    return good;
}

static double microseconds(fleet_amount amount)
{
    return (double)amount / 4294967296.0 / 1000;
}

static struct share_sums sums_of(const struct fleet_cell *cell, const struct fleet_row *row)
{
    struct share_sums sums = {.x = 0};
    if (cell != NULL) {
        sums.y = microseconds(cell->weight);
        sums.yy = (long double)cell->squares;
        sums.samples = (double)cell->samples / 4294967296.0;
        sums.applications = cell->applications;
    }
    if (row != NULL) {
        sums.x = microseconds(row->self);
        sums.xx = (long double)row->squares;
        sums.xy = (long double)row->products;
    }
    return sums;
}

static double total_share(const struct fleet_cell *cell, const struct fleet_row *row)
{
    return row == NULL || cell->weight <= 0 ? 0 : (double)row->total / (double)cell->weight;
}

/* A method of the last seven days. */
static bool judge(struct fleet_changes *changes, const struct fleet_row *now)
{
    const struct fleet_table *periods = &changes->periods;
    const struct fleet_cell *now_cell = &periods->cells[now->cell];
    const struct fleet_cell *cell = fleet_table_find_cell(periods, now_cell->owner, FLEET_BEFORE, FLEET_CPU);
    if (now_cell->day != FLEET_NOW || cell == NULL)
        return true;
    const struct fleet_row *row =
        fleet_table_find_row(periods, (uint32_t)(cell - periods->cells), now->method);
    struct share_sums before = sums_of(cell, row), after = sums_of(now_cell, now);
    struct share_change share = share_change_judge(&before, &after);
    if (!share.is_more)
        return true;
    if (!array_reserve(&changes->items, &changes->capacity, changes->count + 1, (size_t)NO_ID))
        return false;
    double more_ns = (share.now - share.before) * (double)fleet_amount_round(now_cell->weight);
    changes->items[changes->count++] = (struct fleet_change){
        .group = now_cell->owner,
        .method = now->method,
        .share = share,
        .total_before = total_share(cell, row),
        .total_now = total_share(now_cell, now),
        .more_ns = more_ns < MOST_NS ? (int64_t)more_ns : INT64_MAX,
    };
    return true;
}

static int compare_changes(const void *left, const void *right, void *context)
{
    const struct fleet_sums *sums = context;
    const struct fleet_change *a = left, *b = right;
    if (a->more_ns != b->more_ns)
        return a->more_ns > b->more_ns ? -1 : 1;
    int order = text_compare(fleet_text(sums, a->group), fleet_text(sums, b->group));
    return order != 0 ? order : text_compare(fleet_text(sums, a->method), fleet_text(sums, b->method));
}

bool fleet_changes_find(struct fleet_changes *changes, const struct fleet_sums *sums, int32_t last_day)
{
    *changes = (struct fleet_changes){.sums = sums, .last_day = last_day};
    bool good = last_day == FLEET_NO_DAY || sum_periods(&sums->closed, last_day, &changes->periods);
    for (size_t i = 0; good && i < changes->periods.row_count; i++)
        good = judge(changes, &changes->periods.rows[i]);
    if (good && changes->count > 0)
        qsort_r(changes->items, changes->count, sizeof(*changes->items), compare_changes, (void *)sums);
    return good;
}

void fleet_changes_release(struct fleet_changes *changes)
{
    fleet_table_release(&changes->periods);
    free(changes->items);
    *changes = (struct fleet_changes){.sums = NULL};
}

uint64_t fleet_changes_runs(const struct fleet_changes *changes, uint32_t group, enum fleet_period period)
{
    const struct fleet_cell *cell =
        fleet_table_find_cell(&changes->periods, group, (int32_t)period, FLEET_CPU);
    return cell == NULL ? 0 : cell->applications;
}
