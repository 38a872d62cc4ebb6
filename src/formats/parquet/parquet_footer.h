/*
 * parquet_footer.h - the end of a Parquet file: its schema, where the columns of each row group are, and properties.
 *
 * Owns: what it lists, until parquet_footer_release(). Borrows the columns.
 * Threads: one at a time.
 */
#ifndef FORMATS_PARQUET_FOOTER_H
#define FORMATS_PARQUET_FOOTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text_builder.h"

#define PARQUET_COLUMN_LIMIT 32

/* Numbers of the encodings in the format. */
enum {
    PARQUET_CODE_PLAIN = 0,
    PARQUET_CODE_RLE = 3,
    PARQUET_CODE_DELTA = 5,
    PARQUET_CODE_FRONT_CODED = 7,
    PARQUET_CODE_DICTIONARY = 8,
};

enum parquet_type {
    PARQUET_INT32,
    PARQUET_INT64,
    PARQUET_TEXT,
    PARQUET_TIMESTAMP, /* microseconds since 1970, UTC */
    PARQUET_DATE,      /* days since 1970 */
};

enum parquet_encoding {
    PARQUET_PLAIN,
    PARQUET_DELTA,      /* of texts: what they share with the one before */
    PARQUET_DICTIONARY, /* or PARQUET_DELTA when most values are different */
};

struct parquet_column {
    const char *name;
    enum parquet_type type;
    enum parquet_encoding encoding;
    bool optional;
};

/* What the footer says of a column in a row group. */
struct parquet_chunk {
    int64_t offset, dictionary_offset; /* dictionary_offset 0: none */
    int64_t bytes, unpacked_bytes;
    int64_t nulls;
    int encoding;
    size_t minimum_at, maximum_at; /* in the footer's texts */
    size_t minimum_size, maximum_size;
    bool has_statistics;
};

struct parquet_footer {
    const struct parquet_column *columns;
    size_t column_count;
    int64_t rows;
    struct parquet_chunk *chunks; /* of all groups */
    size_t chunk_count, chunk_capacity;
    int64_t *group_sizes; /* rows of each group */
    size_t group_count, group_capacity;
    struct text_builder statistics; /* texts of the chunks */
};

/* A key and its value in the footer. */
struct parquet_property {
    const char *key;
    const char *value;
};

void parquet_footer_release(struct parquet_footer *footer);
/* Appends it to `out`, which notes when memory is out. */
void parquet_footer_add(const struct parquet_footer *footer, const struct parquet_property *properties,
                        size_t count, struct text_builder *out);

#endif
