#include "spark/baseline/baseline.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/id_map.h"

#define MAX_RUNS 100000
#define TIME_FLOOR_MS 1000
#define BYTES_FLOOR ((double)(16 << 20))
#define ROWS_FLOOR 10000

/* ---- which item is which ---- */

struct item_matching {
    const struct run_summary *before, *now;
    uint32_t *of_before; /* of each item there, the one here */
    struct baseline_value *values;
};

/* A key from an item's parent here, its own key, and its index among those that are alike. False: no memory. */
static bool ordered_key(struct id_map *counts, uint32_t parent, uint64_t own, uint64_t *key)
{
    uint64_t name = hash_mix(own ^ HASH_SEED, ((uint64_t)parent + 1) ^ HASH_MULTIPLIER);
    uint32_t *count = id_map_place(counts, name);
    if (count == NULL)
        return false;
    *count = *count == NO_ID ? 0 : *count + 1;
    *key = hash_mix(name ^ HASH_SEED, *count + HASH_MULTIPLIER);
    return true;
}

static bool list_items(const struct item_matching *matching, enum run_item_kind kind, int level,
                       struct id_map *places)
{
    const struct run_summary *now = matching->now;
    struct id_map counts;
    bool good = true;
    id_map_init(&counts);
    for (size_t i = now->first[kind]; i < now->first[kind + 1] && good; i++) {
        uint64_t key;
        if (matching->values[i].level == RUN_KEYS)
            good = ordered_key(&counts, now->items[i].parent, now->items[i].keys[level], &key) &&
                   id_map_set(places, key, (uint32_t)i);
    }
    id_map_release(&counts);
    return good;
}

static void pair(struct item_matching *matching, size_t before, uint32_t now, int level)
{
    const struct run_item *item = &matching->before->items[before];
    struct baseline_value *value = &matching->values[now];
    matching->of_before[before] = now;
    value->level = level;
    value->samples = item->samples;
    for (size_t i = 0; i < RUN_MEASURES; i++)
        value->values[i] = item->values[i];
}

/* Pairs what is not paired yet; parents are. */
static bool match(struct item_matching *matching, enum run_item_kind kind, int level)
{
    const struct run_summary *before = matching->before;
    struct id_map counts, places;
    id_map_init(&counts);
    id_map_init(&places);
    bool good = list_items(matching, kind, level, &places);
    for (size_t i = before->first[kind]; i < before->first[kind + 1] && good; i++) {
        uint32_t parent = before->items[i].parent == NO_RUN_ITEM
                              ? NO_RUN_ITEM
                              : matching->of_before[before->items[i].parent];
        uint64_t key;
        if (matching->of_before[i] != NO_RUN_ITEM || (parent == NO_RUN_ITEM && kind != RUN_APPLICATION))
            continue;
        good = ordered_key(&counts, parent, before->items[i].keys[level], &key);
        uint32_t found = good ? id_map_get(&places, key) : NO_ID;
        if (found != NO_ID)
            pair(matching, i, found, level);
    }
    id_map_release(&counts);
    id_map_release(&places);
    return good;
}

/* Methods of no samples count as such where the stage has samples. */
static void fill_methods(struct item_matching *matching)
{
    const struct run_summary *before = matching->before, *now = matching->now;
    bool *has_methods = calloc(now->size, sizeof(*has_methods));
    if (has_methods == NULL)
        return;
    for (size_t i = before->first[RUN_METHOD]; i < before->first[RUN_METHOD + 1]; i++) {
        uint32_t stage = matching->of_before[before->items[i].parent];
        if (stage != NO_RUN_ITEM)
            has_methods[stage] = true;
    }
    for (size_t i = now->first[RUN_METHOD]; i < now->first[RUN_METHOD + 1]; i++)
        if (matching->values[i].level == RUN_KEYS && has_methods[now->items[i].parent])
            matching->values[i] = (struct baseline_value){.values = {-1, 0, -1, -1}, .level = 0};
    free(has_methods);
}

static bool match_all(struct item_matching *matching)
{
    for (size_t i = 0; i < matching->before->size; i++)
        matching->of_before[i] = NO_RUN_ITEM;
    for (size_t i = 0; i < matching->now->size; i++)
        matching->values[i] = (struct baseline_value){.level = RUN_KEYS};
    pair(matching, 0, 0, 0);
    for (enum run_item_kind kind = RUN_QUERY; kind < RUN_KINDS; kind++)
        for (int level = 0; level < RUN_KEYS; level++)
            if (!match(matching, kind, level))
                return false;
    fill_methods(matching);
    return true;
}

/* ---- runs ---- */

bool baseline_init(struct baseline *baseline, const struct application *application,
                   const struct profile *profile, double share, struct error *error)
{
    *baseline = (struct baseline){.share = share};
    return run_summary_init(&baseline->now, application, profile, error);
}

static bool add_run(struct baseline *baseline, const struct run_summary *before)
{
    struct item_matching matching = {.before = before, .now = &baseline->now};
    struct baseline_run run = {.start_ms = before->start_ms};
    run.id = string_table_add(&baseline->now.strings, run_summary_text(before, before->id));
    run.name = string_table_add(&baseline->now.strings, run_summary_text(before, before->name));
    matching.of_before = malloc((before->size + 1) * sizeof(*matching.of_before));
    run.values = matching.values = malloc((baseline->now.size + 1) * sizeof(*run.values));
    bool good = run.id != NO_STRING && run.name != NO_STRING && matching.of_before != NULL &&
                run.values != NULL && match_all(&matching) &&
                array_reserve(&baseline->runs, &baseline->run_capacity, baseline->run_count + 1, MAX_RUNS);
    free(matching.of_before);
    if (good)
        baseline->runs[baseline->run_count++] = run;
    else
        free(run.values);
    return good;
}

bool baseline_add(struct baseline *baseline, const struct application *application,
                  const struct profile *profile, struct error *error)
{
    struct run_summary before;
    if (!run_summary_init(&before, application, profile, error))
        return false;
    bool good = add_run(baseline, &before) || error_set_memory(error);
    run_summary_release(&before);
    return good;
}

void baseline_release(struct baseline *baseline)
{
    run_summary_release(&baseline->now);
    for (size_t i = 0; i < baseline->run_count; i++)
        free(baseline->runs[i].values);
    free(baseline->runs);
    free(baseline->rows);
    free(baseline->order);
    *baseline = (struct baseline){.share = 0};
}

/* ---- verdicts ---- */

/* Of n samples, the square root of n is chance; at least one might have been there. */
static double variance_of(double ms, double samples, double ms_per_sample)
{
    return samples > 0 ? ms * ms / samples : ms_per_sample * ms_per_sample;
}

/* Of a method's time here, and of the median run's. */
static double sampling_variance(const struct baseline *baseline, size_t item)
{
    const struct run_item *now = &baseline->now.items[item];
    if (now->samples <= 0)
        return 0;
    double per_sample = now->values[RUN_CORE] / now->samples, sum = 0;
    size_t runs = 0;
    for (size_t i = 0; i < baseline->run_count; i++) {
        const struct baseline_value *value = &baseline->runs[i].values[item];
        if (value->level == RUN_KEYS)
            continue;
        sum += variance_of(value->values[RUN_CORE], value->samples, per_sample);
        runs++;
    }
    double before = runs == 0 ? 0 : sum / (double)runs;
    return variance_of(now->values[RUN_CORE], now->samples, per_sample) + before;
}

static struct measure_change judge(const struct baseline *baseline, size_t item, enum run_measure measure,
                                   double *room)
{
    static const double floors[RUN_MEASURES] = {TIME_FLOOR_MS, TIME_FLOOR_MS, BYTES_FLOOR, ROWS_FLOOR};
    const struct run_item *now = &baseline->now.items[item];
    struct change_limits limits = {.share = baseline->share, .amount = floors[measure]};
    size_t count = 0;
    for (size_t i = 0; i < baseline->run_count; i++) {
        const struct baseline_value *value = &baseline->runs[i].values[item];
        if (value->level < RUN_KEYS && value->values[measure] >= 0)
            room[count++] = value->values[measure];
    }
    if (measure == RUN_CORE)
        limits.variance = sampling_variance(baseline, item);
    return measure_change_judge(room, now->values[measure] < 0 ? 0 : count, now->values[measure], &limits);
}

static double moved_ms(const struct measure_change *change)
{
    return change->runs == 0 ? 0 : change->now - change->median;
}

static void set_verdict(struct baseline_row *row)
{
    const struct measure_change *wall = &row->changes[RUN_WALL], *core = &row->changes[RUN_CORE];
    bool is_slower = wall->verdict == CHANGE_MORE || core->verdict == CHANGE_MORE;
    bool is_faster = wall->verdict == CHANGE_LESS || core->verdict == CHANGE_LESS;
    row->verdict = row->runs == 0 ? BASELINE_NEW
                   : is_slower    ? BASELINE_SLOWER
                   : is_faster    ? BASELINE_FASTER
                                  : BASELINE_SAME;
    bool is_of_wall = wall->verdict == (is_slower ? CHANGE_MORE : CHANGE_LESS);
    row->more_ms = moved_ms(is_of_wall ? wall : core);
}

static void make_row(struct baseline *baseline, size_t item, double *room)
{
    struct baseline_row *row = &baseline->rows[item];
    bool has_plan = false;
    for (size_t i = 0; i < baseline->run_count; i++) {
        int level = baseline->runs[i].values[item].level;
        row->runs += level < RUN_KEYS;
        has_plan = has_plan || level < RUN_KEYS - 1;
    }
    const struct run_item *now = &baseline->now.items[item];
    row->plan_changed = now->kind == RUN_QUERY && row->runs > 0 && !has_plan;
    for (enum run_measure measure = 0; measure < RUN_MEASURES; measure++)
        row->changes[measure] = judge(baseline, item, measure, room);
    set_verdict(row);
}

/* ---- order ---- */

static double size_of(const struct baseline_row *row)
{
    return row->more_ms < 0 ? -row->more_ms : row->more_ms;
}

static int compare_items(const void *left, const void *right, void *context)
{
    const struct baseline *baseline = context;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    const struct run_item *items = baseline->now.items;
    double more_a = size_of(&baseline->rows[a]), more_b = size_of(&baseline->rows[b]);
    if (items[a].kind != items[b].kind)
        return items[a].kind < items[b].kind ? -1 : 1;
    if (baseline->rows[a].verdict != baseline->rows[b].verdict)
        return baseline->rows[a].verdict == BASELINE_SLOWER ? -1 : 1;
    if (more_a != more_b)
        return more_a > more_b ? -1 : 1;
    return (a > b) - (a < b);
}

static bool is_changed(const struct baseline_row *row)
{
    return row->verdict == BASELINE_SLOWER || row->verdict == BASELINE_FASTER;
}

bool baseline_finish(struct baseline *baseline, struct error *error)
{
    size_t size = baseline->now.size;
    double *room = malloc((baseline->run_count + 1) * sizeof(*room));
    baseline->rows = calloc(size + 1, sizeof(*baseline->rows));
    baseline->order = calloc(size + 1, sizeof(*baseline->order));
    bool good = room != NULL && baseline->rows != NULL && baseline->order != NULL;
    for (size_t i = 0; good && i < size; i++) {
        make_row(baseline, i, room);
        if (is_changed(&baseline->rows[i]))
            baseline->order[baseline->order_size++] = (uint32_t)i;
    }
    if (good)
        qsort_r(baseline->order, baseline->order_size, sizeof(*baseline->order), compare_items, baseline);
    free(room);
    return good || error_set_memory(error);
}

/* ---- names ---- */

size_t baseline_count_slower(const struct baseline *baseline, enum run_item_kind kind)
{
    size_t count = 0;
    for (size_t i = baseline->now.first[kind]; i < baseline->now.first[kind + 1]; i++)
        count += baseline->rows[i].verdict == BASELINE_SLOWER;
    return count;
}

const char *baseline_verdict_name(enum baseline_verdict verdict)
{
    static const char *const names[BASELINE_VERDICTS] = {"same", "slower", "faster", "new"};
    return names[verdict];
}

const char *baseline_kind_name(enum run_item_kind kind)
{
    static const char *const names[RUN_KINDS] = {"application", "query", "stage", "method"};
    return names[kind];
}

static double percent_of(const struct measure_change *change)
{
    return change->median > 0 ? 100 * (change->now / change->median - 1) : 0;
}

const char *baseline_reason(const struct baseline_row *row, char *text, size_t size)
{
    static const struct {
        enum run_measure measure;
        const char *what;
    } amounts[] = {{RUN_ROWS, "rows"}, {RUN_BYTES, "bytes"}};
    enum change_verdict wanted = row->verdict == BASELINE_SLOWER ? CHANGE_MORE : CHANGE_LESS;
    const char *more = wanted == CHANGE_MORE ? "more" : "less";
    text[0] = '\0';
    if (row->verdict != BASELINE_SLOWER && row->verdict != BASELINE_FASTER)
        return text;
    for (size_t i = 0; i < COUNT_OF(amounts); i++) {
        const struct measure_change *change = &row->changes[amounts[i].measure];
        double percent = percent_of(change);
        if (change->verdict != wanted || percent == 0)
            continue;
        snprintf(text, size, "it reads and shuffles %.0f %% %s %s", percent < 0 ? -percent : percent,
                 wanted == CHANGE_LESS && i == 0 ? "fewer" : more, amounts[i].what);
        return text;
    }
    if (row->changes[RUN_WALL].runs == 0)
        return text;
    if (row->changes[RUN_CORE].verdict == wanted)
        snprintf(text, size, "the same data takes %s time of the tasks", more);
    else if (row->changes[RUN_CORE].runs > 0)
        snprintf(text, size, "its tasks take about as long in all: it had %s cores, or waited %s",
                 wanted == CHANGE_MORE ? "fewer" : "more", more);
    return text;
}
