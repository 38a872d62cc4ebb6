/*
 * profile_tables.h - a profile as tables, which docs/PARQUET.md describes. Each becomes a Parquet file of its own.
 *
 * Owns: what the tables share, until profile_tables_release(). Borrows the profile, whose stacks are in its tree.
 * Threads: one at a time.
 */
#ifndef FORMATS_PROFILE_TABLES_H
#define FORMATS_PROFILE_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "formats/parquet/parquet_file.h"
#include "model/profile.h"
#include "model/weight.h"

#define NO_NUMBER INT64_MIN

/* The first column of each table: ids belong to a block, which is what was written from one profile. */
#define BLOCK_COLUMN                                      \
    {                                                     \
        "block", PARQUET_INT64, PARQUET_DICTIONARY, false \
    }

struct profile_tables {
    const struct profile *profile;
    int64_t block;       /* a hash of the profile */
    enum weight weight;  /* that methods are summed up by */
    uint32_t *stack_ids; /* of each node: from 0 on, for stacks of samples, NO_STACK for others */
    size_t stack_count;
};

/* One of them, and how its rows are written. */
struct profile_table {
    const char *name;
    const struct parquet_column *columns;
    size_t column_count;
    bool (*write)(const struct profile_tables *tables, struct parquet_file *file, struct error *error);
};

extern const struct profile_table table_samples, table_stack_frames, table_frames, table_method_costs,
    table_applications, table_events;

/* To be released in any case. */
bool profile_tables_init(struct profile_tables *tables, const struct profile *profile, enum weight weight,
                         struct error *error) MUST_CHECK;
void profile_tables_release(struct profile_tables *tables);

/* A label of a set as a number; NO_NUMBER: there is none, or it is not a number. */
int64_t profile_tables_number(const struct profile *profile, uint32_t context, uint32_t key);
/* Weights as whole numbers. */
int64_t profile_tables_count(const struct profile *profile, size_t sample);
int64_t profile_tables_value(const struct profile *profile, size_t sample);
/* The largest number where the sum would be larger. */
int64_t profile_tables_sum(int64_t left, int64_t right);
/* Rounded down; NO_TIME stays. */
int64_t profile_tables_microseconds(int64_t time_ns);

/* For columns that are optional. */
static inline void profile_tables_add(struct parquet_file *file, size_t column, int64_t number)
{
    if (number == NO_NUMBER)
        parquet_add_null(file, column);
    else
        parquet_add_number(file, column, number);
}

/* Text 0 is none. */
static inline void profile_tables_add_text(struct parquet_file *file, size_t column,
                                           const struct string_table *strings, uint32_t text)
{
    if (text == 0)
        parquet_add_null(file, column);
    else
        parquet_add_text(file, column, string_table_text(strings, text));
}

#endif
