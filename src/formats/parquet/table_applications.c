/*
 * table_applications.c - the tables of applications and of events: one row for each.
 */
#include "formats/parquet/profile_tables.h"

#include <stdlib.h>

#include "base/id_map.h"

/* ---- applications ---- */

static const struct parquet_column application_columns[] = {
    BLOCK_COLUMN,
    {"application", PARQUET_TEXT, PARQUET_DELTA, true},
    {"first_time", PARQUET_TIMESTAMP, PARQUET_DELTA, true},
    {"last_time", PARQUET_TIMESTAMP, PARQUET_DELTA, true},
    {"executors", PARQUET_INT64, PARQUET_DELTA, false},
    {"stages", PARQUET_INT64, PARQUET_DELTA, false},
    {"tasks", PARQUET_INT64, PARQUET_DELTA, false},
    {"samples", PARQUET_INT64, PARQUET_DELTA, false},
};

/* What is counted of an application: labels with different values. */
static const enum label_key counted[] = {LABEL_EXECUTOR, LABEL_STAGE, LABEL_TASK};

struct application_row {
    uint32_t name; /* text; 0: samples without that label */
    int64_t first_time, last_time;
    int64_t labels[COUNT_OF(counted)];
    int64_t samples;
};

static int compare_rows(const void *left, const void *right)
{
    const struct application_row *a = left, *b = right;
    return (a->name > b->name) - (a->name < b->name);
}

static struct application_row *row_of(struct application_row *rows, struct id_map *numbers, size_t *count,
                                      uint32_t name)
{
    uint32_t *place = id_map_place(numbers, name);
    if (place == NULL)
        return NULL;
    if (*place == NO_ID) {
        *place = (uint32_t)*count;
        rows[(*count)++] =
            (struct application_row){.name = name, .first_time = NO_TIME, .last_time = NO_TIME};
    }
    return &rows[*place];
}

/* Counts a label's value unless this application had it before. */
static bool count_label(struct application_row *row, size_t which, uint32_t value, struct id_map *seen)
{
    uint32_t *place = value == 0 ? NULL : id_map_place(seen, (uint64_t)row->name << 32 | value);
    if (place == NULL)
        return value == 0;
    row->labels[which] += *place == NO_ID;
    *place = 0;
    return true;
}

static bool count_sample(const struct profile *profile, size_t number, struct application_row *row,
                         struct id_map *seen)
{
    const struct sample *sample = &profile->samples[number];
    int64_t time = profile_tables_microseconds(sample->time_ns);
    row->samples = profile_tables_sum(row->samples, profile_tables_count(profile, number));
    if (time != NO_TIME && (row->first_time == NO_TIME || time < row->first_time))
        row->first_time = time;
    if (time != NO_TIME && (row->last_time == NO_TIME || time > row->last_time))
        row->last_time = time;
    bool good = true;
    for (size_t i = 0; good && i < COUNT_OF(counted); i++)
        good = count_label(row, i, context_table_value(&profile->contexts, sample->context, counted[i]),
                           &seen[i]);
    return good;
}

static bool list_applications(const struct profile *profile, struct application_row *rows, size_t *count)
{
    struct id_map numbers, seen[COUNT_OF(counted)];
    bool good = rows != NULL;
    id_map_init(&numbers);
    for (size_t i = 0; i < COUNT_OF(counted); i++)
        id_map_init(&seen[i]);
    for (size_t i = 0; good && i < profile->sample_count; i++) {
        uint32_t name =
            context_table_value(&profile->contexts, profile->samples[i].context, LABEL_APPLICATION);
        struct application_row *row = row_of(rows, &numbers, count, name);
        good = row != NULL && count_sample(profile, i, row, seen);
    }
    id_map_release(&numbers);
    for (size_t i = 0; i < COUNT_OF(counted); i++)
        id_map_release(&seen[i]);
    return good;
}

static bool write_applications(const struct profile_tables *tables, struct parquet_file *file,
                               struct error *error)
{
    const struct profile *profile = tables->profile;
    size_t count = 0;
    struct application_row *rows = malloc((profile->contexts.size + 1) * sizeof(*rows));
    bool good = list_applications(profile, rows, &count) || error_set_memory(error);
    if (good && count > 0)
        qsort(rows, count, sizeof(*rows), compare_rows);
    for (size_t i = 0; good && i < count; i++) {
        parquet_add_number(file, 0, tables->block);
        profile_tables_add_text(file, 1, &profile->strings, rows[i].name);
        profile_tables_add(file, 2, rows[i].first_time);
        profile_tables_add(file, 3, rows[i].last_time);
        for (size_t j = 0; j < COUNT_OF(counted); j++)
            parquet_add_number(file, 4 + j, rows[i].labels[j]);
        parquet_add_number(file, 7, rows[i].samples);
        good = parquet_end_row(file, error);
    }
    free(rows);
    return good;
}

const struct profile_table table_applications = {"applications", application_columns,
                                                 COUNT_OF(application_columns), write_applications};

/* ---- events ---- */

static const struct parquet_column event_columns[] = {
    BLOCK_COLUMN,
    {"event", PARQUET_TEXT, PARQUET_DELTA, false},
    {"unit", PARQUET_TEXT, PARQUET_DELTA, false},
    {"weight", PARQUET_TEXT, PARQUET_DELTA, false},
    {"count", PARQUET_INT64, PARQUET_DELTA, false},
    {"value", PARQUET_INT64, PARQUET_DELTA, false},
};

static bool write_events(const struct profile_tables *tables, struct parquet_file *file, struct error *error)
{
    static const char *const units[] = {
        [UNIT_COUNT] = "count", [UNIT_NANOSECONDS] = "nanoseconds", [UNIT_BYTES] = "bytes"};
    const struct profile *profile = tables->profile;
    int64_t counts[EVENT_LIMIT] = {0}, values[EVENT_LIMIT] = {0};
    for (size_t i = 0; i < profile->sample_count; i++) {
        uint32_t event = profile->samples[i].event;
        counts[event] = profile_tables_sum(counts[event], profile_tables_count(profile, i));
        values[event] = profile_tables_sum(values[event], profile_tables_value(profile, i));
    }
    bool good = true;
    for (size_t i = 0; good && i < profile->event_count; i++) {
        const struct event *event = &profile->events[i];
        parquet_add_number(file, 0, tables->block);
        parquet_add_text(file, 1, profile_text(profile, event->name));
        parquet_add_text(file, 2, text_of(units[event->unit]));
        parquet_add_text(file, 3, text_of(event->shows_value ? "value" : "count"));
        parquet_add_number(file, 4, counts[i]);
        parquet_add_number(file, 5, values[i]);
        good = parquet_end_row(file, error);
    }
    return good;
}

const struct profile_table table_events = {"events", event_columns, COUNT_OF(event_columns), write_events};
