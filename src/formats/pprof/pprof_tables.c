#include "formats/pprof/pprof_tables.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "formats/pprof/protobuf_reader.h"

#define ITEM_LIMIT ((size_t)1 << 31)

struct pprof_function {
    uint64_t name; /* string indexes */
    uint64_t system_name;
    uint64_t file;
};

struct pprof_mapping {
    uint64_t file; /* string index */
};

struct pprof_line {
    uint64_t function;
    uint64_t line;
};

/* A location as the file has it. */
struct raw_location {
    uint64_t id;
    uint64_t mapping;
    uint64_t address;
    struct text_view message; /* its lines are in it */
};

struct text_view pprof_string(const struct pprof_tables *tables, uint64_t index)
{
    return index < tables->string_count ? tables->strings[index] : TEXT("");
}

void pprof_tables_release(struct pprof_tables *tables)
{
    free(tables->strings);
    free(tables->functions);
    free(tables->mappings);
    free(tables->locations);
    free(tables->location_frames);
    id_map_release(&tables->function_numbers);
    id_map_release(&tables->mapping_numbers);
    id_map_release(&tables->location_numbers);
    *tables = (struct pprof_tables){.strings = NULL};
}

static bool fail(const struct pprof_tables *tables, struct text_view at, const char *what,
                 struct error *error)
{
    return error_set(error, ERROR_BAD_INPUT, "offset %llu: %s",
                     (unsigned long long)(at.data - tables->file.data), what);
}

static bool read_value_type(const struct pprof_tables *tables, struct text_view message,
                            struct pprof_value_type *type, struct error *error)
{
    struct protobuf_reader reader;
    struct protobuf_field field;
    *type = (struct pprof_value_type){0, 0};
    protobuf_reader_init(&reader, message, tables->file.data);
    while (protobuf_reader_next(&reader, &field, error)) {
        if (field.number == 1 && field.wire == PROTOBUF_VARINT)
            type->type = field.value;
        else if (field.number == 2 && field.wire == PROTOBUF_VARINT)
            type->unit = field.value;
    }
    return !reader.failed;
}

static bool add_sample_type(struct pprof_tables *tables, struct text_view message, struct error *error)
{
    if (tables->type_count == PPROF_TYPE_LIMIT)
        return fail(tables, message, "too many sample types", error);
    return read_value_type(tables, message, &tables->types[tables->type_count++], error);
}

static bool add_function(struct pprof_tables *tables, struct text_view message, struct error *error)
{
    struct protobuf_reader reader;
    struct protobuf_field field;
    struct pprof_function function = {0, 0, 0};
    uint64_t id = 0;
    protobuf_reader_init(&reader, message, tables->file.data);
    while (protobuf_reader_next(&reader, &field, error)) {
        uint64_t *places[] = {NULL, &id, &function.name, &function.system_name, &function.file};
        if (field.wire == PROTOBUF_VARINT && field.number < COUNT_OF(places))
            *places[field.number] = field.value;
    }
    if (reader.failed)
        return false;
    if (!array_reserve(&tables->functions, &tables->function_capacity, tables->function_count + 1,
                       ITEM_LIMIT) ||
        !id_map_set(&tables->function_numbers, id, (uint32_t)tables->function_count))
        return error_set_memory(error);
    tables->functions[tables->function_count++] = function;
    return true;
}

static bool add_mapping(struct pprof_tables *tables, struct text_view message, struct error *error)
{
    struct protobuf_reader reader;
    struct protobuf_field field;
    struct pprof_mapping mapping = {0};
    uint64_t id = 0;
    protobuf_reader_init(&reader, message, tables->file.data);
    while (protobuf_reader_next(&reader, &field, error)) {
        if (field.number == 1 && field.wire == PROTOBUF_VARINT)
            id = field.value;
        else if (field.number == 5 && field.wire == PROTOBUF_VARINT)
            mapping.file = field.value;
    }
    if (reader.failed)
        return false;
    if (!array_reserve(&tables->mappings, &tables->mapping_capacity, tables->mapping_count + 1, ITEM_LIMIT) ||
        !id_map_set(&tables->mapping_numbers, id, (uint32_t)tables->mapping_count))
        return error_set_memory(error);
    tables->mappings[tables->mapping_count++] = mapping;
    return true;
}

static bool add_string(struct pprof_tables *tables, struct text_view text, struct error *error)
{
    if (!array_reserve(&tables->strings, &tables->string_capacity, tables->string_count + 1, ITEM_LIMIT))
        return error_set_memory(error);
    tables->strings[tables->string_count++] = text;
    return true;
}

static bool read_number(struct pprof_tables *tables, const struct protobuf_field *field)
{
    if (field->number == PPROF_TIME_NANOS)
        tables->time_ns = (int64_t)field->value;
    else if (field->number == PPROF_DURATION_NANOS)
        tables->duration_ns = (int64_t)field->value;
    else if (field->number == PPROF_PERIOD)
        tables->period = (int64_t)field->value;
    else if (field->number == PPROF_DEFAULT_SAMPLE_TYPE)
        tables->default_type = field->value;
    return true;
}

/* Everything that refers to nothing but strings. */
static bool read_first(struct pprof_tables *tables, const struct protobuf_field *field, struct error *error)
{
    if (field->wire == PROTOBUF_VARINT)
        return read_number(tables, field);
    if (field->wire != PROTOBUF_BYTES)
        return true;
    switch (field->number) {
    case PPROF_SAMPLE_TYPE:
        return add_sample_type(tables, field->bytes, error);
    case PPROF_MAPPING:
        return add_mapping(tables, field->bytes, error);
    case PPROF_FUNCTION:
        return add_function(tables, field->bytes, error);
    case PPROF_STRING:
        return add_string(tables, field->bytes, error);
    case PPROF_PERIOD_TYPE:
        return read_value_type(tables, field->bytes, &tables->period_type, error);
    default:
        return true;
    }
}

static bool read_raw_location(const struct pprof_tables *tables, struct text_view message,
                              struct raw_location *location, struct error *error)
{
    struct protobuf_reader reader;
    struct protobuf_field field;
    *location = (struct raw_location){.message = message};
    protobuf_reader_init(&reader, message, tables->file.data);
    while (protobuf_reader_next(&reader, &field, error)) {
        uint64_t *places[] = {NULL, &location->id, &location->mapping, &location->address};
        if (field.wire == PROTOBUF_VARINT && field.number < COUNT_OF(places))
            *places[field.number] = field.value;
    }
    return !reader.failed;
}

static bool read_line(const struct pprof_tables *tables, struct text_view message, struct pprof_line *line,
                      struct error *error)
{
    struct protobuf_reader reader;
    struct protobuf_field field;
    *line = (struct pprof_line){0, 0};
    protobuf_reader_init(&reader, message, tables->file.data);
    while (protobuf_reader_next(&reader, &field, error)) {
        if (field.number == 1 && field.wire == PROTOBUF_VARINT)
            line->function = field.value;
        else if (field.number == 2 && field.wire == PROTOBUF_VARINT)
            line->line = field.value;
    }
    return !reader.failed;
}

/* We and some others say the kind of code by the mapping's name. */
static enum frame_kind kind_of_mapping(const struct pprof_tables *tables, uint64_t mapping)
{
    uint32_t number = id_map_get(&tables->mapping_numbers, mapping);
    if (number == NO_ID)
        return FRAME_UNKNOWN;
    struct text_view file = pprof_string(tables, tables->mappings[number].file);
    if (text_starts_with(file, TEXT("[kernel")))
        return FRAME_KERNEL;
    if (file.size < 2 || file.data[0] != '[')
        return FRAME_UNKNOWN;
    struct text_view name = text_part(file, 1, file.size - 2);
    for (enum frame_kind kind = FRAME_UNKNOWN; kind < FRAME_KIND_COUNT; kind++)
        if (text_equal(name, text_of(frame_kind_name(kind))))
            return kind;
    return FRAME_UNKNOWN;
}

static bool append_frame(struct pprof_tables *tables, uint32_t frame, struct error *error)
{
    if (frame == NO_FRAME || !array_reserve(&tables->location_frames, &tables->frame_capacity,
                                            tables->frame_count + 1, ITEM_LIMIT))
        return error_set_memory(error);
    tables->location_frames[tables->frame_count++] = frame;
    return true;
}

static bool append_address(struct pprof_tables *tables, uint64_t address, struct profile *profile,
                           struct error *error)
{
    char name[24];
    int size = snprintf(name, sizeof(name), "0x%llx", (unsigned long long)address);
    struct text_view text = {name, (size_t)size};
    return append_frame(tables, profile_frame(profile, text, TEXT(""), 0, FRAME_NATIVE), error);
}

static bool append_line(struct pprof_tables *tables, const struct raw_location *location,
                        const struct pprof_line *line, struct profile *profile, struct error *error)
{
    uint32_t number = id_map_get(&tables->function_numbers, line->function);
    if (number == NO_ID)
        return fail(tables, location->message, "a location with a function that is not there", error);
    const struct pprof_function *function = &tables->functions[number];
    struct text_view name = pprof_string(tables, function->name);
    if (name.size == 0)
        name = pprof_string(tables, function->system_name);
    if (name.size == 0)
        return append_address(tables, location->address, profile, error);
    struct text_view file = pprof_string(tables, function->file);
    /* Names of Python's functions say little without their file. */
    if (!tables->needs_lines && !text_ends_with(file, TEXT(".py")))
        file = TEXT("");
    uint32_t at = tables->needs_lines && line->line <= UINT32_MAX ? (uint32_t)line->line : 0;
    enum frame_kind kind = kind_of_mapping(tables, location->mapping);
    return append_frame(tables, profile_frame(profile, name, file, at, kind), error);
}

static void reverse(uint32_t *items, size_t count)
{
    for (size_t i = 0; i < count / 2; i++) {
        uint32_t item = items[i];
        items[i] = items[count - 1 - i];
        items[count - 1 - i] = item;
    }
}

/* The file has the innermost of the inlined calls first. */
static bool add_lines(struct pprof_tables *tables, const struct raw_location *location,
                      struct profile *profile, struct error *error)
{
    struct protobuf_reader reader;
    struct protobuf_field field;
    size_t first = tables->frame_count;
    protobuf_reader_init(&reader, location->message, tables->file.data);
    while (protobuf_reader_next(&reader, &field, error)) {
        struct pprof_line line;
        if (field.number != 4 || field.wire != PROTOBUF_BYTES)
            continue;
        if (!read_line(tables, field.bytes, &line, error) ||
            !append_line(tables, location, &line, profile, error))
            return false;
    }
    if (reader.failed)
        return false;
    if (tables->frame_count == first && !append_address(tables, location->address, profile, error))
        return false;
    reverse(tables->location_frames + first, tables->frame_count - first);
    return true;
}

static bool add_location(struct pprof_tables *tables, struct text_view message, struct profile *profile,
                         struct error *error)
{
    struct raw_location location;
    size_t first = tables->frame_count;
    if (!read_raw_location(tables, message, &location, error) ||
        !add_lines(tables, &location, profile, error))
        return false;
    if (!array_reserve(&tables->locations, &tables->location_capacity, tables->location_count + 1,
                       ITEM_LIMIT) ||
        !id_map_set(&tables->location_numbers, location.id, (uint32_t)tables->location_count))
        return error_set_memory(error);
    tables->locations[tables->location_count++] =
        (struct pprof_location){(uint32_t)first, (uint32_t)(tables->frame_count - first)};
    return true;
}

bool pprof_tables_read(struct pprof_tables *tables, struct text_view file, bool needs_lines,
                       struct profile *profile, struct error *error)
{
    struct protobuf_reader reader;
    struct protobuf_field field;
    *tables = (struct pprof_tables){.file = file, .needs_lines = needs_lines};
    protobuf_reader_init(&reader, file, file.data);
    while (protobuf_reader_next(&reader, &field, error))
        if (!read_first(tables, &field, error))
            return false;
    if (reader.failed)
        return false;
    protobuf_reader_init(&reader, file, file.data);
    while (protobuf_reader_next(&reader, &field, error))
        if (field.number == PPROF_LOCATION && field.wire == PROTOBUF_BYTES &&
            !add_location(tables, field.bytes, profile, error))
            return false;
    return !reader.failed;
}
