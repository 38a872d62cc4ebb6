#include "formats/parquet/parquet_file.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/array.h"
#include "base/id_map.h"
#include "base/utf8.h"
#include "formats/parquet/parquet_encoding.h"
#include "formats/parquet/thrift_writer.h"

/* Level 19 reads 4 MB a second, level 15 28, and ids of frames are smaller by a tenth: worth it for small tables. */
#define ZSTD_LEVEL_OF_FIRST_GROUP 19
#define ZSTD_LEVEL 15
#define PAGE_LIMIT_BYTES ((size_t)INT32_MAX)
#define FOOTER_LIMIT_BYTES ((size_t)1 << 30)
#define MOST_GROUPS ((size_t)1 << 20)
#define DICTIONARY_LIMIT ((size_t)1 << 16)
/* Longer texts have no statistics, which only have to tell row groups apart. */
#define STATISTICS_LIMIT_BYTES 64

/* A column of the open row group on its way into the file. */
struct column_writer {
    struct parquet_file *file;
    const struct parquet_column *column;
    const struct parquet_values *values;
    struct parquet_chunk *chunk;
    int64_t *numbers; /* as they are encoded: values, or places in the dictionary */
    int64_t *dictionary;
    size_t dictionary_size;
};

static size_t bytes_of(const struct parquet_column *column)
{
    return column->type == PARQUET_INT32 || column->type == PARQUET_DATE ? 4 : 8;
}

bool parquet_file_init(struct parquet_file *file, const struct parquet_column *columns, size_t count,
                       struct output *output, struct error *error)
{
    *file = (struct parquet_file){.output = output};
    file->footer = (struct parquet_footer){.columns = columns, .column_count = count};
    text_builder_init(&file->footer.statistics, FOOTER_LIMIT_BYTES);
    text_builder_init(&file->page, PAGE_LIMIT_BYTES);
    text_builder_init(&file->compressed, PAGE_LIMIT_BYTES);
    text_builder_init(&file->header, FOOTER_LIMIT_BYTES);
    text_builder_init(&file->text, PAGE_LIMIT_BYTES);
    file->zstd = ZSTD_createCCtx();
    bool good = file->zstd != NULL;
    for (size_t i = 0; good && i < count; i++)
        good = columns[i].type != PARQUET_TEXT ||
               string_table_init(&file->values[i].texts, PARQUET_TEXT_LIMIT_BYTES);
    output_text(output, TEXT("PAR1"));
    file->position = 4;
    return good || error_set_memory(error);
}

void parquet_file_release(struct parquet_file *file)
{
    for (size_t i = 0; i < file->footer.column_count; i++) {
        free(file->values[i].numbers);
        free(file->values[i].present);
        if (file->footer.columns[i].type == PARQUET_TEXT)
            string_table_release(&file->values[i].texts);
    }
    parquet_footer_release(&file->footer);
    text_builder_release(&file->page);
    text_builder_release(&file->compressed);
    text_builder_release(&file->header);
    text_builder_release(&file->text);
    ZSTD_freeCCtx(file->zstd);
    *file = (struct parquet_file){.output = NULL};
}

/* ---- rows ---- */

static bool reserve(struct parquet_values *values)
{
    if (values->numbers == NULL)
        values->numbers = malloc(PARQUET_GROUP_ROWS * sizeof(*values->numbers));
    if (values->present == NULL)
        values->present = malloc(PARQUET_GROUP_ROWS);
    return values->numbers != NULL && values->present != NULL;
}

void parquet_add_number(struct parquet_file *file, size_t column, int64_t number)
{
    struct parquet_values *values = &file->values[column];
    if (!reserve(values)) {
        file->failed = true;
        return;
    }
    values->present[file->group_rows] = 1;
    values->numbers[values->count++] = number;
}

void parquet_add_text(struct parquet_file *file, size_t column, struct text_view text)
{
    if (!utf8_is_valid(text)) {
        text_builder_clear(&file->text);
        utf8_add_mended(&file->text, text);
        text = text_builder_view(&file->text);
    }
    uint32_t number = string_table_add(&file->values[column].texts, text);
    if (number == NO_STRING || file->text.failed)
        file->failed = true;
    else
        parquet_add_number(file, column, number);
}

void parquet_add_null(struct parquet_file *file, size_t column)
{
    struct parquet_values *values = &file->values[column];
    if (reserve(values))
        values->present[file->group_rows] = 0;
    else
        file->failed = true;
}

/* ---- pages ---- */

static void add_page_header(struct column_writer *writer, bool is_dictionary, size_t count, int encoding)
{
    struct parquet_file *file = writer->file;
    struct thrift_writer thrift;
    text_builder_clear(&file->header);
    thrift_init(&thrift, &file->header);
    thrift_begin(&thrift);
    thrift_field_i32(&thrift, 1, is_dictionary ? 2 : 0);
    thrift_field_i32(&thrift, 2, (int32_t)file->page.size);
    thrift_field_i32(&thrift, 3, (int32_t)file->compressed.size);
    thrift_field_struct(&thrift, is_dictionary ? 7 : 5);
    thrift_field_i32(&thrift, 1, (int32_t)count);
    thrift_field_i32(&thrift, 2, encoding);
    if (!is_dictionary) {
        thrift_field_i32(&thrift, 3, PARQUET_CODE_RLE);
        thrift_field_i32(&thrift, 4, PARQUET_CODE_RLE);
    }
    thrift_end(&thrift);
    thrift_end(&thrift);
}

/* Writes what is in file->page. */
static void end_page(struct column_writer *writer, bool is_dictionary, size_t count, int encoding)
{
    struct parquet_file *file = writer->file;
    struct text_view page = text_builder_view(&file->page);
    text_builder_clear(&file->compressed);
    size_t room = ZSTD_compressBound(page.size);
    int level = file->footer.group_count == 0 ? ZSTD_LEVEL_OF_FIRST_GROUP : ZSTD_LEVEL;
    char *to = text_builder_room(&file->compressed, room);
    size_t size = to == NULL ? 0 : ZSTD_compressCCtx(file->zstd, to, room, page.data, page.size, level);
    if (to == NULL || ZSTD_isError(size) || file->page.failed) {
        file->failed = true;
        return;
    }
    text_builder_took(&file->compressed, size);
    add_page_header(writer, is_dictionary, count, encoding);
    file->failed = file->failed || file->header.failed;
    output_text(file->output, text_builder_view(&file->header));
    output_text(file->output, text_builder_view(&file->compressed));
    file->position += (int64_t)(file->header.size + size);
    writer->chunk->bytes += (int64_t)(file->header.size + size);
    writer->chunk->unpacked_bytes += (int64_t)(file->header.size + page.size);
}

/* Which of the rows have a value, after the size of that. */
static void add_levels(struct parquet_file *file, const uint8_t *present, size_t count)
{
    int64_t *levels = malloc(count * sizeof(*levels));
    if (levels == NULL) {
        file->failed = true;
        return;
    }
    for (size_t i = 0; i < count; i++)
        levels[i] = present[i];
    text_builder_clear(&file->text);
    parquet_add_runs(&file->text, levels, count, 1);
    free(levels);
    file->failed = file->failed || file->text.failed;
    parquet_add_plain_text(&file->page, text_builder_view(&file->text));
}

static struct text_view text_at(const struct column_writer *writer, int64_t number)
{
    return string_table_text(&writer->values->texts, (uint32_t)number);
}

static void add_front_coded(struct column_writer *writer, const int64_t *numbers, size_t count)
{
    struct text_view *texts = malloc((count + 1) * sizeof(*texts));
    int64_t *lengths = malloc((count + 1) * sizeof(*lengths));
    if (texts != NULL && lengths != NULL) {
        for (size_t i = 0; i < count; i++)
            texts[i] = text_at(writer, numbers[i]);
        parquet_add_front_coded(&writer->file->page, texts, count, lengths);
    } else {
        writer->file->failed = true;
    }
    free(texts);
    free(lengths);
}

static void add_values(struct column_writer *writer, const int64_t *numbers, size_t count)
{
    struct text_builder *page = &writer->file->page;
    bool is_text = writer->column->type == PARQUET_TEXT;
    switch (writer->chunk->encoding) {
    case PARQUET_CODE_DICTIONARY: {
        /* Whole bytes, in which zstd finds repeats. */
        unsigned width = (parquet_bit_width(writer->dictionary_size - 1) + 7) / 8 * 8;
        text_builder_add_byte(page, (char)width);
        parquet_add_runs(page, numbers, count, width);
        break;
    }
    case PARQUET_CODE_DELTA:
        parquet_add_deltas(page, numbers, count, bytes_of(writer->column));
        break;
    case PARQUET_CODE_FRONT_CODED:
        add_front_coded(writer, numbers, count);
        break;
    default:
        for (size_t i = 0; is_text && i < count; i++)
            parquet_add_plain_text(page, text_at(writer, numbers[i]));
        if (!is_text)
            parquet_add_plain(page, numbers, count, bytes_of(writer->column));
    }
}

/* All rows of the group are one page: zstd does not look back beyond it. */
static void write_page(struct column_writer *writer)
{
    struct parquet_file *file = writer->file;
    text_builder_clear(&file->page);
    if (writer->column->optional)
        add_levels(file, writer->values->present, file->group_rows);
    add_values(writer, writer->numbers, writer->values->count);
    end_page(writer, false, file->group_rows, writer->chunk->encoding);
}

/* ---- dictionaries ---- */

static bool pays(size_t distinct, size_t count)
{
    return distinct <= DICTIONARY_LIMIT && distinct * 4 <= count * 3;
}

/* Numbers become places in the dictionary, in the order in which they come. False: it does not pay, or no memory. */
static bool make_dictionary(struct column_writer *writer)
{
    size_t count = writer->values->count, size = 0;
    struct id_map places;
    id_map_init(&places);
    int64_t *found = malloc(count * sizeof(*found));
    writer->dictionary = malloc((DICTIONARY_LIMIT + 1) * sizeof(*writer->dictionary));
    bool good = found != NULL && writer->dictionary != NULL;
    for (size_t i = 0; good && i < count; i++) {
        uint32_t *place = id_map_place(&places, (uint64_t)writer->values->numbers[i]);
        if (place != NULL && *place == NO_ID) {
            writer->dictionary[size] = writer->values->numbers[i];
            *place = (uint32_t)size++;
        }
        writer->file->failed = writer->file->failed || place == NULL;
        good = place != NULL && size <= DICTIONARY_LIMIT;
        if (good)
            found[i] = *place;
    }
    id_map_release(&places);
    if (!good || !pays(size, count)) {
        free(found);
        return false;
    }
    writer->numbers = found;
    writer->dictionary_size = size;
    return true;
}

static void write_dictionary(struct column_writer *writer)
{
    struct parquet_file *file = writer->file;
    text_builder_clear(&file->page);
    for (size_t i = 0; writer->column->type == PARQUET_TEXT && i < writer->dictionary_size; i++)
        parquet_add_plain_text(&file->page, text_at(writer, writer->dictionary[i]));
    if (writer->column->type != PARQUET_TEXT)
        parquet_add_plain(&file->page, writer->dictionary, writer->dictionary_size, bytes_of(writer->column));
    writer->chunk->dictionary_offset = file->position;
    end_page(writer, true, writer->dictionary_size, PARQUET_CODE_PLAIN);
}

/* ---- statistics ---- */

static struct text_view keep_statistic(struct parquet_file *file, const void *data, size_t size, size_t *at)
{
    *at = file->footer.statistics.size;
    text_builder_add(&file->footer.statistics, (struct text_view){data, size});
    return (struct text_view){data, size};
}

static int compare_values(const struct column_writer *writer, int64_t left, int64_t right)
{
    if (writer->column->type != PARQUET_TEXT)
        return (left > right) - (left < right);
    struct text_view a = text_at(writer, left), b = text_at(writer, right);
    int order = memcmp(a.data, b.data, a.size < b.size ? a.size : b.size);
    return order != 0 ? order : (a.size > b.size) - (a.size < b.size);
}

static void keep_statistics(struct column_writer *writer)
{
    struct parquet_chunk *chunk = writer->chunk;
    const struct parquet_values *values = writer->values;
    chunk->nulls = (int64_t)(writer->file->group_rows - values->count);
    if (values->count == 0)
        return;
    int64_t minimum = values->numbers[0], maximum = minimum;
    for (size_t i = 1; i < values->count; i++) {
        minimum = compare_values(writer, values->numbers[i], minimum) < 0 ? values->numbers[i] : minimum;
        maximum = compare_values(writer, values->numbers[i], maximum) > 0 ? values->numbers[i] : maximum;
    }
    struct text_view smallest = {(const char *)&minimum, bytes_of(writer->column)};
    struct text_view largest = {(const char *)&maximum, bytes_of(writer->column)};
    if (writer->column->type == PARQUET_TEXT) {
        smallest = text_at(writer, minimum);
        largest = text_at(writer, maximum);
    }
    if (smallest.size > STATISTICS_LIMIT_BYTES || largest.size > STATISTICS_LIMIT_BYTES)
        return;
    chunk->has_statistics = true;
    chunk->minimum_size = keep_statistic(writer->file, smallest.data, smallest.size, &chunk->minimum_at).size;
    chunk->maximum_size = keep_statistic(writer->file, largest.data, largest.size, &chunk->maximum_at).size;
}

/* ---- row groups ---- */

static int delta_code(const struct parquet_column *column)
{
    return column->type == PARQUET_TEXT ? PARQUET_CODE_FRONT_CODED : PARQUET_CODE_DELTA;
}

static void write_column(struct parquet_file *file, size_t index, struct parquet_chunk *chunk)
{
    struct column_writer writer = {
        .file = file,
        .column = &file->footer.columns[index],
        .values = &file->values[index],
        .chunk = chunk,
        .numbers = file->values[index].numbers,
    };
    *chunk = (struct parquet_chunk){.encoding = PARQUET_CODE_PLAIN};
    if (writer.values->count > 0 && writer.column->encoding == PARQUET_DICTIONARY)
        chunk->encoding = make_dictionary(&writer) ? PARQUET_CODE_DICTIONARY : delta_code(writer.column);
    else if (writer.values->count > 0 && writer.column->encoding == PARQUET_DELTA)
        chunk->encoding = delta_code(writer.column);
    if (chunk->encoding == PARQUET_CODE_DICTIONARY)
        write_dictionary(&writer);
    chunk->offset = file->position;
    write_page(&writer);
    keep_statistics(&writer);
    if (writer.numbers != writer.values->numbers)
        free(writer.numbers);
    free(writer.dictionary);
}

static bool clear_values(struct parquet_file *file)
{
    bool good = true;
    for (size_t i = 0; i < file->footer.column_count; i++) {
        struct parquet_values *values = &file->values[i];
        values->count = 0;
        if (file->footer.columns[i].type == PARQUET_TEXT) {
            string_table_release(&values->texts);
            good = string_table_init(&values->texts, PARQUET_TEXT_LIMIT_BYTES) && good;
        }
    }
    return good;
}

static bool end_group(struct parquet_file *file)
{
    if (!array_reserve(&file->footer.chunks, &file->footer.chunk_capacity,
                       file->footer.chunk_count + file->footer.column_count,
                       MOST_GROUPS * PARQUET_COLUMN_LIMIT) ||
        !array_reserve(&file->footer.group_sizes, &file->footer.group_capacity, file->footer.group_count + 1,
                       MOST_GROUPS))
        return false;
    for (size_t i = 0; i < file->footer.column_count && !file->failed; i++)
        write_column(file, i, &file->footer.chunks[file->footer.chunk_count + i]);
    file->footer.chunk_count += file->footer.column_count;
    file->footer.group_sizes[file->footer.group_count++] = (int64_t)file->group_rows;
    file->footer.rows += (int64_t)file->group_rows;
    file->group_rows = 0;
    return !file->failed && !file->footer.statistics.failed && clear_values(file);
}

bool parquet_end_row(struct parquet_file *file, struct error *error)
{
    file->group_rows++;
    bool good = !file->failed && (file->group_rows < PARQUET_GROUP_ROWS || end_group(file));
    return good || error_set_memory(error);
}

bool parquet_file_finish(struct parquet_file *file, const struct parquet_property *properties, size_t count,
                         struct error *error)
{
    if (file->failed || (file->group_rows > 0 && !end_group(file)))
        return error_set_memory(error);
    text_builder_clear(&file->header);
    parquet_footer_add(&file->footer, properties, count, &file->header);
    uint32_t size = (uint32_t)file->header.size;
    if (file->header.failed)
        return error_set_memory(error);
    output_text(file->output, text_builder_view(&file->header));
    output_write(file->output, &size, sizeof(size));
    output_text(file->output, TEXT("PAR1"));
    return true;
}
