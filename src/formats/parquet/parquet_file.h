/*
 * parquet_file.h - writes one table as a Parquet file: row groups, each column of one in a page that is compressed with
 * zstd, a dictionary where it pays, smallest and largest values, and the footer.
 *
 *     parquet_file_init(&file, columns, COUNT_OF(columns), output, error)
 *     for each row: parquet_add_number() or parquet_add_text() or parquet_add_null() for each column, then
 *         parquet_end_row(&file, error)
 *     parquet_file_finish(&file, error)
 *     parquet_file_release(&file)
 *
 * Texts become valid UTF-8, invalid bytes U+FFFD. What is written depends on the rows only (and on the zstd library).
 *
 * Owns: the rows of the open row group, until parquet_file_release(). Borrows columns and output.
 * Threads: one at a time.
 * Limit: PARQUET_GROUP_ROWS rows and PARQUET_TEXT_LIMIT_BYTES of different texts per column are held at a time.
 */
#ifndef FORMATS_PARQUET_FILE_H
#define FORMATS_PARQUET_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/output.h"
#include "base/string_table.h"
#include "base/text_builder.h"
#include "formats/parquet/parquet_footer.h"

#define PARQUET_GROUP_ROWS ((size_t)1 << 18)
#define PARQUET_COLUMN_LIMIT 32
#define PARQUET_TEXT_LIMIT_BYTES ((size_t)1 << 30)

/* Values of the open row group. */
struct parquet_values {
    int64_t *numbers; /* of those that are there; of texts the number in `texts` */
    uint8_t *present; /* of each row */
    size_t count;
    struct string_table texts;
};

struct parquet_file {
    struct parquet_footer footer; /* of what is written */
    struct output *output;
    int64_t position; /* in the file */
    struct parquet_values values[PARQUET_COLUMN_LIMIT];
    size_t group_rows; /* of the open group */
    struct text_builder page, compressed, header, text;
    void *zstd;
    bool failed; /* memory is out */
};

/* To be released in any case. */
bool parquet_file_init(struct parquet_file *file, const struct parquet_column *columns, size_t count,
                       struct output *output, struct error *error) MUST_CHECK;
void parquet_add_number(struct parquet_file *file, size_t column, int64_t number);
void parquet_add_text(struct parquet_file *file, size_t column, struct text_view text);
/* The column is optional. */
void parquet_add_null(struct parquet_file *file, size_t column);
bool parquet_end_row(struct parquet_file *file, struct error *error) MUST_CHECK;
bool parquet_file_finish(struct parquet_file *file, const struct parquet_property *properties, size_t count,
                         struct error *error) MUST_CHECK;
void parquet_file_release(struct parquet_file *file);

#endif
