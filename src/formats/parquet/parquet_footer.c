#include "formats/parquet/parquet_footer.h"

#include <stdlib.h>

#include "formats/parquet/thrift_writer.h"

enum { PHYSICAL_INT32 = 1, PHYSICAL_INT64 = 2, PHYSICAL_BYTES = 6 };
enum { REQUIRED = 0, OPTIONAL = 1 };
enum { CONVERTED_UTF8 = 0, CONVERTED_DATE = 6, CONVERTED_MICROSECONDS = 10 };
enum { LOGICAL_TEXT = 1, LOGICAL_DATE = 6, LOGICAL_TIMESTAMP = 8 };
enum { UNIT_OF_MICROSECONDS = 2 };
enum { CODEC_ZSTD = 6 };

static int physical_type(const struct parquet_column *column)
{
    if (column->type == PARQUET_TEXT)
        return PHYSICAL_BYTES;
    return column->type == PARQUET_INT32 || column->type == PARQUET_DATE ? PHYSICAL_INT32 : PHYSICAL_INT64;
}

static void add_meaning(struct thrift_writer *thrift, int converted, int logical)
{
    thrift_field_i32(thrift, 6, converted);
    thrift_field_struct(thrift, 10);
    thrift_field_struct(thrift, logical);
    if (logical == LOGICAL_TIMESTAMP) {
        thrift_field_bool(thrift, 1, true);
        thrift_field_struct(thrift, 2);
        thrift_field_struct(thrift, UNIT_OF_MICROSECONDS);
        thrift_end(thrift);
        thrift_end(thrift);
    }
    thrift_end(thrift);
    thrift_end(thrift);
}

static void add_column(struct thrift_writer *thrift, const struct parquet_column *column)
{
    thrift_begin(thrift);
    thrift_field_i32(thrift, 1, physical_type(column));
    thrift_field_i32(thrift, 3, column->optional ? OPTIONAL : REQUIRED);
    thrift_field_text(thrift, 4, text_of(column->name));
    if (column->type == PARQUET_TEXT)
        add_meaning(thrift, CONVERTED_UTF8, LOGICAL_TEXT);
    else if (column->type == PARQUET_DATE)
        add_meaning(thrift, CONVERTED_DATE, LOGICAL_DATE);
    else if (column->type == PARQUET_TIMESTAMP)
        add_meaning(thrift, CONVERTED_MICROSECONDS, LOGICAL_TIMESTAMP);
    thrift_end(thrift);
}

static void add_schema(struct thrift_writer *thrift, const struct parquet_footer *footer)
{
    thrift_field_list(thrift, 2, THRIFT_STRUCT, footer->column_count + 1);
    thrift_begin(thrift);
    thrift_field_text(thrift, 4, TEXT("schema"));
    thrift_field_i32(thrift, 5, (int32_t)footer->column_count);
    thrift_end(thrift);
    for (size_t i = 0; i < footer->column_count; i++)
        add_column(thrift, &footer->columns[i]);
}

static void add_statistics(struct thrift_writer *thrift, const struct parquet_footer *footer,
                           const struct parquet_chunk *chunk)
{
    struct text_view all = text_builder_view(&footer->statistics);
    thrift_field_struct(thrift, 12);
    thrift_field_i64(thrift, 3, chunk->nulls);
    if (chunk->has_statistics) {
        thrift_field_text(thrift, 5, text_part(all, chunk->maximum_at, chunk->maximum_size));
        thrift_field_text(thrift, 6, text_part(all, chunk->minimum_at, chunk->minimum_size));
    }
    thrift_end(thrift);
}

static void add_chunk(struct thrift_writer *thrift, const struct parquet_footer *footer,
                      const struct parquet_column *column, const struct parquet_chunk *chunk, int64_t rows)
{
    bool has_dictionary = chunk->dictionary_offset != 0;
    int64_t first = has_dictionary ? chunk->dictionary_offset : chunk->offset;
    thrift_begin(thrift);
    thrift_field_i64(thrift, 2, first);
    thrift_field_struct(thrift, 3);
    thrift_field_i32(thrift, 1, physical_type(column));
    thrift_field_list(thrift, 2, THRIFT_I32, has_dictionary ? 3 : 2);
    if (has_dictionary)
        thrift_i32(thrift, PARQUET_CODE_PLAIN);
    thrift_i32(thrift, chunk->encoding);
    thrift_i32(thrift, PARQUET_CODE_RLE);
    thrift_field_list(thrift, 3, THRIFT_BINARY, 1);
    thrift_text(thrift, text_of(column->name));
    thrift_field_i32(thrift, 4, CODEC_ZSTD);
    thrift_field_i64(thrift, 5, rows);
    thrift_field_i64(thrift, 6, chunk->unpacked_bytes);
    thrift_field_i64(thrift, 7, chunk->bytes);
    thrift_field_i64(thrift, 9, chunk->offset);
    if (has_dictionary)
        thrift_field_i64(thrift, 11, chunk->dictionary_offset);
    add_statistics(thrift, footer, chunk);
    thrift_end(thrift);
    thrift_end(thrift);
}

static void add_group(struct thrift_writer *thrift, const struct parquet_footer *footer, size_t group)
{
    const struct parquet_chunk *chunks = &footer->chunks[group * footer->column_count];
    int64_t bytes = 0, unpacked = 0;
    thrift_begin(thrift);
    thrift_field_list(thrift, 1, THRIFT_STRUCT, footer->column_count);
    for (size_t i = 0; i < footer->column_count; i++) {
        add_chunk(thrift, footer, &footer->columns[i], &chunks[i], footer->group_sizes[group]);
        bytes += chunks[i].bytes;
        unpacked += chunks[i].unpacked_bytes;
    }
    const struct parquet_chunk *first = &chunks[0];
    thrift_field_i64(thrift, 2, unpacked);
    thrift_field_i64(thrift, 3, footer->group_sizes[group]);
    thrift_field_i64(thrift, 5, first->dictionary_offset != 0 ? first->dictionary_offset : first->offset);
    thrift_field_i64(thrift, 6, bytes);
    thrift_end(thrift);
}

/* Statistics are ordered as the types are: texts by unsigned bytes. */
static void add_orders(struct thrift_writer *thrift, size_t count)
{
    thrift_field_list(thrift, 7, THRIFT_STRUCT, count);
    for (size_t i = 0; i < count; i++) {
        thrift_begin(thrift);
        thrift_field_struct(thrift, 1);
        thrift_end(thrift);
        thrift_end(thrift);
    }
}

void parquet_footer_release(struct parquet_footer *footer)
{
    free(footer->chunks);
    free(footer->group_sizes);
    text_builder_release(&footer->statistics);
}

void parquet_footer_add(const struct parquet_footer *footer, const struct parquet_property *properties,
                        size_t count, struct text_builder *out)
{
    struct thrift_writer thrift;
    thrift_init(&thrift, out);
    thrift_begin(&thrift);
    thrift_field_i32(&thrift, 1, 2);
    add_schema(&thrift, footer);
    thrift_field_i64(&thrift, 3, footer->rows);
    thrift_field_list(&thrift, 4, THRIFT_STRUCT, footer->group_count);
    for (size_t i = 0; i < footer->group_count; i++)
        add_group(&thrift, footer, i);
    thrift_field_list(&thrift, 5, THRIFT_STRUCT, count);
    for (size_t i = 0; i < count; i++) {
        thrift_begin(&thrift);
        thrift_field_text(&thrift, 1, text_of(properties[i].key));
        thrift_field_text(&thrift, 2, text_of(properties[i].value));
        thrift_end(&thrift);
    }
    thrift_field_text(&thrift, 6, TEXT("sparkflame version " SPARKFLAME_VERSION));
    add_orders(&thrift, footer->column_count);
    thrift_end(&thrift);
}
