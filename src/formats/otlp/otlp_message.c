#include "formats/otlp/otlp_message.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"

bool otlp_fail(const void *file, struct text_view at, const char *what, struct error *error)
{
    return error_set(error, ERROR_BAD_INPUT, "offset %llu: %s",
                     (unsigned long long)(at.data - (const char *)file), what);
}

bool otlp_each_field(struct text_view message, const void *file, otlp_taker take, void *context,
                     struct error *error)
{
    struct protobuf_reader reader;
    struct protobuf_field field;
    protobuf_reader_init(&reader, message, file);
    while (protobuf_reader_next(&reader, &field, error))
        if (!take(context, &field, error))
            return false;
    return !reader.failed;
}

/* ---- the tables ---- */

static bool take_entry(void *context, const struct protobuf_field *field, struct error *error)
{
    struct otlp_tables *tables = context;
    if (field->wire != PROTOBUF_BYTES || field->number >= OTLP_TABLES)
        return true;
    struct otlp_entries *table = &tables->of[field->number];
    if (field->number == OTLP_STRINGS && table->count == 0 && field->bytes.size > 0)
        return otlp_fail(tables->file, field->bytes, "the first string is not empty", error);
    if (tables->count == tables->limit)
        return error_set(error, ERROR_MEMORY, "more than %zu entries of tables", tables->limit);
    if (!array_reserve(&table->items, &table->capacity, table->count + 1, OTLP_ITEM_LIMIT))
        return error_set_memory(error);
    table->items[table->count++] = field->bytes;
    tables->count++;
    return true;
}

static bool take_dictionary(void *context, const struct protobuf_field *field, struct error *error)
{
    struct otlp_tables *tables = context;
    return field->number != OTLP_DICTIONARY || field->wire != PROTOBUF_BYTES ||
           otlp_each_field(field->bytes, tables->file, take_entry, tables, error);
}

bool otlp_tables_read(struct otlp_tables *tables, struct text_view request, size_t limit, struct error *error)
{
    *tables = (struct otlp_tables){.file = request.data, .limit = limit};
    return otlp_each_field(request, request.data, take_dictionary, tables, error);
}

void otlp_tables_release(struct otlp_tables *tables)
{
    for (size_t i = 0; i < OTLP_TABLES; i++)
        free(tables->of[i].items);
    *tables = (struct otlp_tables){.file = NULL};
}

bool otlp_tables_get(const struct otlp_tables *tables, enum otlp_table table, uint64_t number,
                     struct text_view at, const char *what, struct text_view *entry, struct error *error)
{
    *entry = TEXT("");
    if (number == 0)
        return true;
    if (number >= tables->of[table].count)
        return otlp_fail(tables->file, at, what, error);
    *entry = tables->of[table].items[number];
    return true;
}

bool otlp_string(const struct otlp_tables *tables, uint64_t number, struct text_view at,
                 struct text_view *text, struct error *error)
{
    return otlp_tables_get(tables, OTLP_STRINGS, number, at, "a string that is not there", text, error);
}

/* ---- attributes ---- */

enum any_value_field { ANY_TEXT = 1, ANY_BOOL = 2, ANY_INTEGER = 3, ANY_DOUBLE = 4, ANY_STRING_NUMBER = 8 };

static double double_of(uint64_t bits)
{
    double number;
    memcpy(&number, &bits, sizeof(number));
    return number;
}

struct value_reading {
    struct otlp_attribute *attribute;
    const struct otlp_tables *tables;
    struct text_view at;
};

static bool take_value(void *context, const struct protobuf_field *field, struct error *error)
{
    struct value_reading *reading = context;
    struct otlp_attribute *attribute = reading->attribute;
    if (field->number == ANY_TEXT && field->wire == PROTOBUF_BYTES) {
        attribute->value = field->bytes;
        return true;
    }
    if (field->number == ANY_STRING_NUMBER && field->wire == PROTOBUF_VARINT)
        return otlp_string(reading->tables, field->value, reading->at, &attribute->value, error);
    if (field->number == ANY_BOOL && field->wire == PROTOBUF_VARINT)
        snprintf(attribute->number, sizeof(attribute->number), "%s", field->value != 0 ? "true" : "false");
    else if (field->number == ANY_INTEGER && field->wire == PROTOBUF_VARINT)
        snprintf(attribute->number, sizeof(attribute->number), "%" PRId64, (int64_t)field->value);
    else if (field->number == ANY_DOUBLE && field->wire == PROTOBUF_FIXED64)
        snprintf(attribute->number, sizeof(attribute->number), "%.15g", double_of(field->value));
    else
        return true;
    attribute->value = text_of(attribute->number);
    return true;
}

bool otlp_attribute_read(struct otlp_attribute *attribute, const struct otlp_tables *tables,
                         struct text_view message, enum otlp_attribute_form form, struct error *error)
{
    struct value_reading reading = {attribute, tables, message};
    struct protobuf_reader reader;
    struct protobuf_field field;
    attribute->name = attribute->value = TEXT("");
    protobuf_reader_init(&reader, message, tables->file);
    while (protobuf_reader_next(&reader, &field, error)) {
        bool good = true;
        if (field.number == (uint32_t)form && field.wire == PROTOBUF_VARINT) {
            if (field.value > 0)
                good = otlp_string(tables, field.value, message, &attribute->name, error);
        } else if (field.number == 1 && form == OTLP_KEY_VALUE && field.wire == PROTOBUF_BYTES) {
            attribute->name = field.bytes;
        } else if (field.number == 2 && field.wire == PROTOBUF_BYTES) {
            good = otlp_each_field(field.bytes, tables->file, take_value, &reading, error);
        }
        if (!good)
            return false;
    }
    return !reader.failed;
}

/* ---- lists of numbers ---- */

void otlp_numbers_release(struct otlp_numbers *numbers)
{
    free(numbers->items);
    *numbers = (struct otlp_numbers){.items = NULL};
}

static bool append(struct otlp_numbers *numbers, uint64_t number, struct error *error)
{
    if (!array_reserve(&numbers->items, &numbers->capacity, numbers->count + 1, OTLP_ITEM_LIMIT))
        return error_set_memory(error);
    numbers->items[numbers->count++] = number;
    return true;
}

bool otlp_numbers_add(struct otlp_numbers *numbers, const struct protobuf_field *field, const void *file,
                      struct error *error)
{
    struct protobuf_reader packed;
    uint64_t number;
    if (field->wire != PROTOBUF_BYTES)
        return append(numbers, field->value, error);
    protobuf_reader_init(&packed, field->bytes, file);
    while (protobuf_reader_varint(&packed, &number, error))
        if (!append(numbers, number, error))
            return false;
    return !packed.failed;
}

bool otlp_numbers_add_fixed(struct otlp_numbers *numbers, const struct protobuf_field *field,
                            const void *file, struct error *error)
{
    if (field->wire != PROTOBUF_BYTES)
        return append(numbers, field->value, error);
    if (field->bytes.size % 8 != 0)
        return otlp_fail(file, field->bytes, "a list of numbers is cut off", error);
    for (size_t i = 0; i < field->bytes.size; i += 8) {
        uint64_t number = 0;
        for (size_t j = 0; j < 8; j++)
            number |= (uint64_t)(unsigned char)field->bytes.data[i + j] << (8 * j);
        if (!append(numbers, number, error))
            return false;
    }
    return true;
}
