/*
 * table_samples.c - the table of samples: those that differ only in labels which have no column are summed up.
 */
#include "formats/parquet/profile_tables.h"

#include <stdlib.h>

#include "base/key_sort.h"

#define TEXT_LIMIT_BYTES ((size_t)64 << 10)

enum {
    COLUMN_BLOCK,
    COLUMN_APPLICATION,
    COLUMN_EVENT,
    COLUMN_EXECUTOR,
    COLUMN_STAGE,
    COLUMN_STAGE_ATTEMPT,
    COLUMN_TASK,
    COLUMN_JOB,
    COLUMN_SQL,
    COLUMN_STATE,
    COLUMN_THREAD_GROUP,
    COLUMN_TIME,
    COLUMN_STACK,
    COLUMN_COUNT,
    COLUMN_VALUE,
};

static const struct parquet_column columns[] = {
    BLOCK_COLUMN,
    {"application", PARQUET_TEXT, PARQUET_DICTIONARY, true},
    {"event", PARQUET_TEXT, PARQUET_DICTIONARY, false},
    {"executor", PARQUET_TEXT, PARQUET_DICTIONARY, true},
    {"stage", PARQUET_INT64, PARQUET_DICTIONARY, true},
    {"stage_attempt", PARQUET_INT64, PARQUET_DICTIONARY, true},
    {"task", PARQUET_INT64, PARQUET_DELTA, true},
    {"job", PARQUET_INT64, PARQUET_DICTIONARY, true},
    {"sql", PARQUET_INT64, PARQUET_DICTIONARY, true},
    {"state", PARQUET_TEXT, PARQUET_DICTIONARY, true},
    {"thread_group", PARQUET_TEXT, PARQUET_DICTIONARY, true},
    {"time", PARQUET_TIMESTAMP, PARQUET_DICTIONARY, true},
    {"stack_id", PARQUET_INT32, PARQUET_DELTA, false},
    {"count", PARQUET_INT64, PARQUET_DICTIONARY, false},
    {"value", PARQUET_INT64, PARQUET_DICTIONARY, false},
};

/* What the columns show of a label set. */
struct label_row {
    uint32_t application, executor, state; /* texts of the profile; 0: none */
    uint32_t thread_group;                 /* in the table's own texts */
    int64_t stage, stage_attempt, task, job, sql;
    uint32_t context;
};

struct ordered_sample {
    uint64_t key;
    uint64_t number;
};
_Static_assert(sizeof(struct ordered_sample) == KEY_SORT_ITEM_BYTES, "items of key_sort()");

struct sample_table {
    const struct profile_tables *tables;
    struct string_table groups;
    struct label_row *rows;       /* of each label set */
    uint32_t *major;              /* of each label set: its rank by application and stage */
    uint32_t *minor;              /* by the others */
    struct ordered_sample *order; /* of the samples */
};

/* ---- labels ---- */

/* Threads of one pool differ in their numbers. */
static uint32_t thread_group(struct sample_table *table, uint32_t context, struct text_builder *text)
{
    const struct profile *profile = table->tables->profile;
    uint32_t thread = context_table_value(&profile->contexts, context, LABEL_THREAD);
    struct text_view name = profile_text(profile, thread);
    if (thread == 0)
        return 0;
    text_builder_clear(text);
    for (size_t i = 0; i < name.size && i < TEXT_LIMIT_BYTES / 2; i++) {
        bool is_digit = name.data[i] >= '0' && name.data[i] <= '9';
        bool goes_on = is_digit && i > 0 && name.data[i - 1] >= '0' && name.data[i - 1] <= '9';
        if (!goes_on)
            text_builder_add_byte(text, is_digit ? '#' : name.data[i]);
    }
    return text->failed ? NO_STRING : string_table_add(&table->groups, text_builder_view(text));
}

static bool read_labels(struct sample_table *table)
{
    const struct profile *profile = table->tables->profile;
    struct text_builder text;
    text_builder_init(&text, TEXT_LIMIT_BYTES);
    bool good = true;
    for (uint32_t i = 0; good && i < profile->contexts.size; i++) {
        table->rows[i] = (struct label_row){
            .application = context_table_value(&profile->contexts, i, LABEL_APPLICATION),
            .executor = context_table_value(&profile->contexts, i, LABEL_EXECUTOR),
            .state = context_table_value(&profile->contexts, i, LABEL_STATE),
            .thread_group = thread_group(table, i, &text),
            .stage = profile_tables_number(profile, i, LABEL_STAGE),
            .stage_attempt = profile_tables_number(profile, i, LABEL_STAGE_ATTEMPT),
            .task = profile_tables_number(profile, i, LABEL_TASK),
            .job = profile_tables_number(profile, i, LABEL_JOB),
            .sql = profile_tables_number(profile, i, LABEL_SQL),
            .context = i,
        };
        good = table->rows[i].thread_group != NO_STRING;
    }
    text_builder_release(&text);
    return good;
}

static int compare_numbers(int64_t left, int64_t right)
{
    return (left > right) - (left < right);
}

static int compare_major(const void *left, const void *right)
{
    const struct label_row *a = left, *b = right;
    return a->application != b->application ? compare_numbers(a->application, b->application)
                                            : compare_numbers(a->stage, b->stage);
}

static int compare_minor(const void *left, const void *right)
{
    const struct label_row *a = left, *b = right;
    const int64_t pairs[][2] = {
        {a->executor, b->executor},
        {a->task, b->task},
        {a->stage_attempt, b->stage_attempt},
        {a->job, b->job},
        {a->sql, b->sql},
        {a->state, b->state},
        {a->thread_group, b->thread_group},
    };
    for (size_t i = 0; i < COUNT_OF(pairs); i++)
        if (pairs[i][0] != pairs[i][1])
            return compare_numbers(pairs[i][0], pairs[i][1]);
    return 0;
}

/* Equal label sets get equal ranks. */
static void rank(struct label_row *rows, size_t count, int (*compare)(const void *, const void *),
                 uint32_t *ranks)
{
    uint32_t number = 0;
    qsort(rows, count, sizeof(*rows), compare);
    for (size_t i = 0; i < count; i++) {
        number += i > 0 && compare(&rows[i - 1], &rows[i]) != 0;
        ranks[rows[i].context] = number;
    }
}

static int compare_contexts(const void *left, const void *right)
{
    const struct label_row *a = left, *b = right;
    return compare_numbers(a->context, b->context);
}

static bool rank_labels(struct sample_table *table)
{
    size_t count = table->tables->profile->contexts.size;
    table->rows = malloc((count + 1) * sizeof(*table->rows));
    table->major = malloc((count + 1) * sizeof(*table->major));
    table->minor = malloc((count + 1) * sizeof(*table->minor));
    if (table->rows == NULL || table->major == NULL || table->minor == NULL || !read_labels(table))
        return false;
    rank(table->rows, count, compare_major, table->major);
    rank(table->rows, count, compare_minor, table->minor);
    qsort(table->rows, count, sizeof(*table->rows), compare_contexts);
    return true;
}

/* ---- rows ---- */

enum { PART_TIME, PART_MINOR, PART_STACK, PART_EVENT, PART_MAJOR, PARTS };

static uint64_t key_of(const struct sample_table *table, size_t number, int part)
{
    const struct sample *sample = &table->tables->profile->samples[number];
    switch (part) {
    case PART_TIME:
        return (uint64_t)profile_tables_microseconds(sample->time_ns) ^ (uint64_t)INT64_MIN;
    case PART_MINOR:
        return table->minor[sample->context];
    case PART_STACK:
        return table->tables->stack_ids[sample->stack];
    case PART_EVENT:
        /* Between application and stage, which one rank holds. */
        return (uint64_t)table->rows[sample->context].application << 32 | sample->event;
    default:
        return table->major[sample->context];
    }
}

/* By application, event, stage, stack, executor and the other labels, time; the sort is stable. */
static bool sort_samples(struct sample_table *table)
{
    static const int parts[] = {PART_TIME, PART_MINOR, PART_STACK, PART_MAJOR, PART_EVENT};
    size_t count = table->tables->profile->sample_count;
    table->order = malloc((count + 1) * sizeof(*table->order));
    if (table->order == NULL)
        return false;
    for (size_t i = 0; i < count; i++)
        table->order[i].number = i;
    for (size_t part = 0; part < COUNT_OF(parts); part++) {
        for (size_t i = 0; i < count; i++)
            table->order[i].key = key_of(table, table->order[i].number, parts[part]);
        if (!key_sort(table->order, count))
            return false;
    }
    return true;
}

static bool is_same_row(const struct sample_table *table, size_t left, size_t right)
{
    for (int part = 0; part < PARTS; part++)
        if (key_of(table, left, part) != key_of(table, right, part))
            return false;
    return true;
}

static void add_row(const struct sample_table *table, struct parquet_file *file, size_t number, int64_t count,
                    int64_t value)
{
    const struct profile *profile = table->tables->profile;
    const struct sample *sample = &profile->samples[number];
    const struct label_row *row = &table->rows[sample->context];
    parquet_add_number(file, COLUMN_BLOCK, table->tables->block);
    profile_tables_add_text(file, COLUMN_APPLICATION, &profile->strings, row->application);
    parquet_add_text(file, COLUMN_EVENT, profile_text(profile, profile->events[sample->event].name));
    profile_tables_add_text(file, COLUMN_EXECUTOR, &profile->strings, row->executor);
    profile_tables_add(file, COLUMN_STAGE, row->stage);
    profile_tables_add(file, COLUMN_STAGE_ATTEMPT, row->stage_attempt);
    profile_tables_add(file, COLUMN_TASK, row->task);
    profile_tables_add(file, COLUMN_JOB, row->job);
    profile_tables_add(file, COLUMN_SQL, row->sql);
    profile_tables_add_text(file, COLUMN_STATE, &profile->strings, row->state);
    profile_tables_add_text(file, COLUMN_THREAD_GROUP, &table->groups, row->thread_group);
    profile_tables_add(file, COLUMN_TIME, profile_tables_microseconds(sample->time_ns));
    parquet_add_number(file, COLUMN_STACK, table->tables->stack_ids[sample->stack]);
    parquet_add_number(file, COLUMN_COUNT, count);
    parquet_add_number(file, COLUMN_VALUE, value);
}

static bool add_rows(const struct sample_table *table, struct parquet_file *file, struct error *error)
{
    const struct profile *profile = table->tables->profile;
    size_t at = 0;
    while (at < profile->sample_count) {
        size_t first = table->order[at].number;
        int64_t count = profile_tables_count(profile, first), value = profile_tables_value(profile, first);
        for (at++; at < profile->sample_count && is_same_row(table, first, table->order[at].number); at++) {
            count = profile_tables_sum(count, profile_tables_count(profile, table->order[at].number));
            value = profile_tables_sum(value, profile_tables_value(profile, table->order[at].number));
        }
        add_row(table, file, first, count, value);
        if (!parquet_end_row(file, error))
            return false;
    }
    return true;
}

static bool write_samples(const struct profile_tables *tables, struct parquet_file *file, struct error *error)
{
    struct sample_table table = {.tables = tables};
    if (!string_table_init(&table.groups, PARQUET_TEXT_LIMIT_BYTES))
        return error_set_memory(error);
    bool good = (rank_labels(&table) && sort_samples(&table)) || error_set_memory(error);
    good = good && add_rows(&table, file, error);
    string_table_release(&table.groups);
    free(table.rows);
    free(table.major);
    free(table.minor);
    free(table.order);
    return good;
}

const struct profile_table table_samples = {"samples", columns, COUNT_OF(columns), write_samples};
