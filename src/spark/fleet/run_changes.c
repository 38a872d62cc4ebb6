#include "spark/fleet/run_changes.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/id_map.h"

#define NANOSECONDS_PER_MS 1e6

/* What is judged, of one event: numbers of each run, those of item i from i * runs on. */
struct judging {
    struct run_changes *changes;
    const struct fleet_sums *sums;
    size_t runs;
    enum fleet_event event;
    double *whole, *samples; /* of each run */
    struct id_map index;     /* of methods */
    uint32_t *methods;
    size_t count, capacity;
    double *values, *room;
};

void run_changes_release(struct run_changes *changes)
{
    free(changes->totals);
    free(changes->items);
    *changes = (struct run_changes){.sums = NULL};
}

static double unit_of(enum fleet_event event)
{
    return event == FLEET_ALLOC ? 1 : NANOSECONDS_PER_MS;
}

static double least_of(enum fleet_event event)
{
    return event == FLEET_ALLOC ? RUN_MIN_BYTES : RUN_MIN_CPU_MS;
}

static double amount_of(fleet_amount amount, enum fleet_event event)
{
    return (double)amount / 4294967296.0 / unit_of(event);
}

/* Of a cell; `runs` if it is none of them. */
static size_t run_of(const struct judging *judging, const struct fleet_cell *cell)
{
    uint64_t number;
    struct text_view name = fleet_text(judging->sums, judging->sums->applications[cell->owner].name);
    return text_to_u64(name, &number) && number < judging->runs ? (size_t)number : judging->runs;
}

/* ---- collecting ---- */

static void sum_runs(struct judging *judging)
{
    const struct fleet_table *table = &judging->sums->current;
    for (size_t i = 0; i < judging->runs; i++)
        judging->whole[i] = judging->samples[i] = 0;
    for (size_t i = 0; i < table->cell_count; i++) {
        const struct fleet_cell *cell = &table->cells[i];
        size_t run = run_of(judging, cell);
        if (cell->event != judging->event || run == judging->runs)
            continue;
        judging->whole[run] += amount_of(cell->weight, judging->event);
        judging->samples[run] += (double)cell->samples / 4294967296.0;
    }
}

/* Those that take enough in the first run; days are added up. */
static bool list_methods(struct judging *judging)
{
    const struct fleet_table *table = &judging->sums->current;
    for (size_t i = 0; i < table->row_count; i++) {
        const struct fleet_row *row = &table->rows[i];
        const struct fleet_cell *cell = &table->cells[row->cell];
        if (cell->event != judging->event || run_of(judging, cell) != 0 || row->self <= 0 ||
            id_map_get(&judging->index, row->method) != NO_ID)
            continue;
        if (!array_reserve(&judging->methods, &judging->capacity, judging->count + 1, (size_t)NO_ID - 1) ||
            !id_map_set(&judging->index, row->method, (uint32_t)judging->count))
            return false;
        judging->methods[judging->count++] = row->method;
    }
    return true;
}

static bool sum_methods(struct judging *judging)
{
    const struct fleet_table *table = &judging->sums->current;
    judging->values = calloc(judging->count * judging->runs + 1, sizeof(*judging->values));
    if (judging->values == NULL)
        return false;
    for (size_t i = 0; i < table->row_count; i++) {
        const struct fleet_row *row = &table->rows[i];
        const struct fleet_cell *cell = &table->cells[row->cell];
        size_t run = run_of(judging, cell);
        uint32_t item = id_map_get(&judging->index, row->method);
        if (cell->event == judging->event && run < judging->runs && item != NO_ID)
            judging->values[item * judging->runs + run] += amount_of(row->self, judging->event);
    }
    return true;
}

/* ---- judging ---- */

/* Of what was counted in samples, by chance: those of a run, and of the median one. */
static double variance_of(const struct judging *judging, const double *values)
{
    double sum = 0;
    for (size_t run = 0; run < judging->runs; run++) {
        if (judging->whole[run] <= 0 || judging->samples[run] <= 0)
            continue;
        double per_sample = judging->whole[run] / judging->samples[run];
        /* One sample might have been there. */
        double variance = (values[run] > per_sample ? values[run] : per_sample) * per_sample;
        sum += run == 0 ? variance : variance / (double)(judging->runs - 1);
    }
    return sum;
}

static double median_of_whole(const struct judging *judging)
{
    struct change_limits limits = {.share = RUN_MIN_SHARE};
    size_t count = 0;
    for (size_t run = 1; run < judging->runs; run++)
        if (judging->whole[run] > 0)
            judging->room[count++] = judging->whole[run];
    return measure_change_judge(judging->room, count, judging->whole[0], &limits).median;
}

/* False: out of memory. Kept are whole runs in any case, and methods that take more. */
static bool judge(struct judging *judging, uint32_t method, const double *values, double whole_before)
{
    struct run_changes *changes = judging->changes;
    struct change_limits limits = {.share = RUN_MIN_SHARE, .amount = least_of(judging->event)};
    limits.variance = variance_of(judging, values);
    size_t count = 0;
    /* A run of which nothing of this event was recorded says nothing. */
    for (size_t run = 1; run < judging->runs; run++)
        if (judging->whole[run] > 0)
            judging->room[count++] = values[run];
    struct run_change change = {.event = judging->event,
                                .method = method,
                                .change = measure_change_judge(judging->room, count, values[0], &limits),
                                .whole_now = judging->whole[0],
                                .whole_before = whole_before};
    bool is_more = change.change.verdict == CHANGE_MORE;
    if (method != NO_STRING && !is_more)
        return true;
    change.is_regression = is_more && (method == NO_STRING || change.change.now - change.change.median >
                                                                  RUN_METHOD_SHARE * whole_before);
    if (!array_reserve(&changes->items, &changes->capacity, changes->count + 1, (size_t)NO_ID))
        return false;
    changes->items[changes->count++] = change;
    return true;
}

static bool judge_event(struct judging *judging)
{
    id_map_init(&judging->index);
    sum_runs(judging);
    bool good = list_methods(judging) && sum_methods(judging);
    double whole_before = good ? median_of_whole(judging) : 0;
    if (good && judging->whole[0] > 0)
        good = judge(judging, NO_STRING, judging->whole, whole_before);
    for (size_t i = 0; good && i < judging->count; i++) {
        const double *values = &judging->values[i * judging->runs];
        good =
            values[0] < least_of(judging->event) || judge(judging, judging->methods[i], values, whole_before);
    }
    id_map_release(&judging->index);
    free(judging->methods);
    free(judging->values);
    return good;
}

static double growth_of(const struct run_change *change)
{
    double more = change->change.now - change->change.median;
    /* So that milliseconds and bytes can be in one list. */
    return change->whole_before > 0 ? more / change->whole_before : more;
}

static int compare_changes(const void *left, const void *right, void *context)
{
    const struct fleet_sums *sums = context;
    const struct run_change *a = left, *b = right;
    if ((a->method == NO_STRING) != (b->method == NO_STRING))
        return a->method == NO_STRING ? -1 : 1;
    if (a->event != b->event)
        return a->event < b->event ? -1 : 1;
    if (growth_of(a) != growth_of(b))
        return growth_of(a) > growth_of(b) ? -1 : 1;
    return text_compare(fleet_text(sums, a->method), fleet_text(sums, b->method));
}

static void keep_totals(const struct judging *judging)
{
    for (size_t run = 0; run < judging->runs; run++) {
        struct run_totals *totals = &judging->changes->totals[run];
        *(judging->event == FLEET_CPU    ? &totals->cpu_ms
          : judging->event == FLEET_WALL ? &totals->wall_ms
                                         : &totals->alloc_bytes) = judging->whole[run];
    }
}

static bool find_all(struct run_changes *changes, double *whole, double *samples, double *room)
{
    bool good = true;
    for (enum fleet_event event = 0; good && event < FLEET_EVENTS; event++) {
        struct judging judging = {.changes = changes,
                                  .sums = changes->sums,
                                  .runs = changes->runs,
                                  .event = event,
                                  .whole = whole,
                                  .samples = samples,
                                  .room = room};
        if (event == FLEET_WALL)
            sum_runs(&judging); /* threads that wait are in it, too: no measure of cost */
        else
            good = judge_event(&judging);
        keep_totals(&judging);
    }
    return good;
}

bool run_changes_find(struct run_changes *changes, const struct fleet_sums *sums, size_t runs,
                      struct error *error)
{
    *changes = (struct run_changes){.sums = sums, .runs = runs};
    double *whole = calloc(runs + 1, sizeof(*whole)), *samples = calloc(runs + 1, sizeof(*samples)),
           *room = calloc(runs + 1, sizeof(*room));
    changes->totals = calloc(runs + 1, sizeof(*changes->totals));
    bool good = runs > 0 && whole != NULL && samples != NULL && room != NULL && changes->totals != NULL &&
                find_all(changes, whole, samples, room);
    if (good && changes->count > 0)
        qsort_r(changes->items, changes->count, sizeof(*changes->items), compare_changes, (void *)sums);
    free(whole);
    free(samples);
    free(room);
    return good || error_set_memory(error);
}
