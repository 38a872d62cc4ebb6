/*
 * table_methods.c - the table of the costs of methods, for each day, application and event, without what is below a
 * thousandth.
 */
#include "formats/parquet/profile_tables.h"

#include <stdlib.h>

#include "base/array.h"

#define MICROSECONDS_PER_DAY INT64_C(86400000000)
#define LEAST_SHARE 1000 /* one of so many */
#define MOST_ROWS ((size_t)1 << 30)

static const struct parquet_column columns[] = {
    BLOCK_COLUMN,
    {"day", PARQUET_DATE, PARQUET_DICTIONARY, true},
    {"application", PARQUET_TEXT, PARQUET_DICTIONARY, true},
    {"event", PARQUET_TEXT, PARQUET_DICTIONARY, false},
    {"method_id", PARQUET_INT32, PARQUET_DELTA, false},
    {"self", PARQUET_INT64, PARQUET_DICTIONARY, false},
    {"total", PARQUET_INT64, PARQUET_DICTIONARY, false},
};

/* The samples of one stack of a day, application and event; or, as a row, those of one method. */
struct method_cost {
    int64_t day; /* NO_NUMBER: unknown */
    uint32_t application, event;
    uint32_t item; /* stack, or the method's name */
    int64_t self, total;
};

struct method_sums {
    const struct profile_tables *tables;
    struct method_cost *stacks;
    size_t stack_count;
    struct method_cost *rows;
    size_t row_count, row_capacity;
    /* Of each string, for the group that is being summed up. */
    int64_t *self, *total;
    size_t *seen;    /* the last stack that had it, plus one */
    uint32_t *names; /* those of the group */
    size_t name_count;
};

static int compare_i64(int64_t left, int64_t right)
{
    return (left > right) - (left < right);
}

static int compare_groups(const struct method_cost *a, const struct method_cost *b)
{
    if (a->day != b->day)
        return compare_i64(a->day, b->day);
    return a->event != b->event ? compare_i64(a->event, b->event)
                                : compare_i64(a->application, b->application);
}

static int compare_stacks(const void *left, const void *right)
{
    const struct method_cost *a = left, *b = right;
    int order = compare_groups(a, b);
    return order != 0 ? order : compare_i64(a->item, b->item);
}

static int compare_rows(const void *left, const void *right)
{
    const struct method_cost *a = left, *b = right;
    if (a->day != b->day)
        return compare_i64(a->day, b->day);
    if (a->event != b->event)
        return compare_i64(a->event, b->event);
    return a->item != b->item ? compare_i64(a->item, b->item) : compare_i64(a->application, b->application);
}

static int64_t day_of(int64_t time_ns)
{
    int64_t microseconds = profile_tables_microseconds(time_ns);
    if (microseconds == NO_TIME)
        return NO_NUMBER;
    return microseconds / MICROSECONDS_PER_DAY - (microseconds % MICROSECONDS_PER_DAY < 0);
}

static int64_t weight_at(const struct profile_tables *tables, size_t sample)
{
    const struct profile *profile = tables->profile;
    bool by_value =
        tables->weight == WEIGHT_VALUE ||
        (tables->weight == WEIGHT_DEFAULT && profile->events[profile->samples[sample].event].shows_value);
    return by_value ? profile_tables_value(profile, sample) : profile_tables_count(profile, sample);
}

static bool list_stacks(struct method_sums *table)
{
    const struct profile *profile = table->tables->profile;
    struct method_cost *stacks = malloc((profile->sample_count + 1) * sizeof(*stacks));
    table->stacks = stacks;
    if (stacks == NULL)
        return false;
    for (size_t i = 0; i < profile->sample_count; i++) {
        const struct sample *sample = &profile->samples[i];
        stacks[i] = (struct method_cost){
            .day = day_of(sample->time_ns),
            .application = context_table_value(&profile->contexts, sample->context, LABEL_APPLICATION),
            .event = sample->event,
            .item = sample->stack,
            .self = weight_at(table->tables, i),
        };
    }
    if (profile->sample_count > 0)
        qsort(stacks, profile->sample_count, sizeof(*stacks), compare_stacks);
    for (size_t i = 0; i < profile->sample_count; i++) {
        struct method_cost *last = table->stack_count == 0 ? NULL : &stacks[table->stack_count - 1];
        if (last != NULL && compare_stacks(last, &stacks[i]) == 0)
            last->self = profile_tables_sum(last->self, stacks[i].self);
        else
            stacks[table->stack_count++] = stacks[i];
    }
    return true;
}

/* A method that calls itself is counted once for a stack. */
static void add_stack(struct method_sums *table, size_t index)
{
    const struct profile *profile = table->tables->profile;
    const struct stack_tree *tree = &profile->stacks;
    const struct method_cost *stack = &table->stacks[index];
    for (uint32_t node = stack->item; node != STACK_ROOT; node = tree->nodes[node].parent) {
        uint32_t name = profile->frames.frames[tree->nodes[node].frame].name;
        if (table->seen[name] == index + 1)
            continue;
        if (table->total[name] == 0)
            table->names[table->name_count++] = name;
        table->seen[name] = index + 1;
        table->total[name] = profile_tables_sum(table->total[name], stack->self);
        if (node == stack->item)
            table->self[name] = profile_tables_sum(table->self[name], stack->self);
    }
}

/* Stacks from `first` to before `end`, whose weights are `sum` together. */
static bool end_methods(struct method_sums *table, const struct method_cost *group, int64_t sum)
{
    bool good = true;
    for (size_t i = 0; i < table->name_count; i++) {
        uint32_t name = table->names[i];
        bool counts = table->total[name] >= sum / LEAST_SHARE;
        if (counts && good) {
            good = array_reserve(&table->rows, &table->row_capacity, table->row_count + 1, MOST_ROWS);
            if (good)
                table->rows[table->row_count++] =
                    (struct method_cost){group->day, group->application, group->event,
                                         name,       table->self[name],  table->total[name]};
        }
        table->self[name] = table->total[name] = 0;
    }
    table->name_count = 0;
    return good;
}

static bool sum_up(struct method_sums *table)
{
    size_t names = table->tables->profile->strings.size, at = 0;
    table->self = calloc(names + 1, sizeof(*table->self));
    table->total = calloc(names + 1, sizeof(*table->total));
    table->seen = calloc(names + 1, sizeof(*table->seen));
    table->names = malloc((names + 1) * sizeof(*table->names));
    bool good = table->self != NULL && table->total != NULL && table->seen != NULL && table->names != NULL;
    while (good && at < table->stack_count) {
        size_t first = at;
        int64_t sum = 0;
        for (; at < table->stack_count && compare_groups(&table->stacks[first], &table->stacks[at]) == 0;
             at++) {
            if (table->stacks[at].self <= 0)
                continue;
            sum = profile_tables_sum(sum, table->stacks[at].self);
            add_stack(table, at);
        }
        good = end_methods(table, &table->stacks[first], sum);
    }
    if (good && table->row_count > 0)
        qsort(table->rows, table->row_count, sizeof(*table->rows), compare_rows);
    return good;
}

/* The first frame of each name. Texts and frames are numbered by content, so the order of input does not matter. */
static uint32_t *first_frames(const struct profile *profile)
{
    uint32_t *first = malloc((profile->strings.size + 1) * sizeof(*first));
    for (size_t i = profile->frames.size; first != NULL && i > 0; i--)
        first[profile->frames.frames[i - 1].name] = (uint32_t)(i - 1);
    return first;
}

static bool write_rows(const struct method_sums *table, const uint32_t *ids, struct parquet_file *file,
                       struct error *error)
{
    const struct profile *profile = table->tables->profile;
    bool good = true;
    for (size_t i = 0; good && i < table->row_count; i++) {
        const struct method_cost *row = &table->rows[i];
        parquet_add_number(file, 0, table->tables->block);
        profile_tables_add(file, 1, row->day);
        profile_tables_add_text(file, 2, &profile->strings, row->application);
        parquet_add_text(file, 3, profile_text(profile, profile->events[row->event].name));
        parquet_add_number(file, 4, ids[row->item]);
        parquet_add_number(file, 5, row->self);
        parquet_add_number(file, 6, row->total);
        good = parquet_end_row(file, error);
    }
    return good;
}

static bool write_methods(const struct profile_tables *tables, struct parquet_file *file, struct error *error)
{
    struct method_sums table = {.tables = tables};
    uint32_t *ids = first_frames(tables->profile);
    bool good = (ids != NULL && list_stacks(&table) && sum_up(&table)) || error_set_memory(error);
    good = good && write_rows(&table, ids, file, error);
    free(ids);
    free(table.stacks);
    free(table.rows);
    free(table.self);
    free(table.total);
    free(table.seen);
    free(table.names);
    return good;
}

const struct profile_table table_method_costs = {"method_costs", columns, COUNT_OF(columns), write_methods};
