#include "formats/otlp/otlp_dictionary.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"

enum mapping_field { MAPPING_FILE = 4 };
enum location_field {
    LOCATION_MAPPING = 1,
    LOCATION_ADDRESS = 2,
    LOCATION_LINES = 3,
    LOCATION_ATTRIBUTES = 4,
};

struct otlp_function {
    struct text_view name, system_name, file;
};

/* A location while it becomes frames. Messages that several refer to are read once, however many refer to them. */
struct location_reading {
    struct otlp_dictionary *dictionary;
    struct profile *profile;
    struct text_view message;
    struct text_view mapping_file;
    uint64_t address;
    enum frame_kind kind;
    struct otlp_numbers attributes;
    struct text_view *mapping_files; /* of each mapping; without data: not read yet */
    struct otlp_function *functions; /* names without data: not read yet */
    uint8_t *kinds; /* of each attribute: KIND_UNREAD, KIND_NONE, or KIND_FIRST + its frame_kind */
};

enum { KIND_UNREAD, KIND_NONE, KIND_FIRST };

void otlp_dictionary_release(struct otlp_dictionary *dictionary)
{
    otlp_tables_release(&dictionary->tables);
    free(dictionary->locations);
    free(dictionary->frames);
    *dictionary = (struct otlp_dictionary){.locations = NULL};
}

/* ---- functions and mappings ---- */

static bool read_function(const struct location_reading *reading, uint64_t index, struct otlp_function *to,
                          struct error *error)
{
    const struct otlp_dictionary *dictionary = reading->dictionary;
    struct protobuf_reader reader;
    struct protobuf_field field;
    struct text_view message;
    struct otlp_function function = {TEXT(""), TEXT(""), TEXT("")};
    struct text_view *places[] = {NULL, &function.name, &function.system_name, &function.file};
    if (!otlp_tables_get(&dictionary->tables, OTLP_FUNCTIONS, index, reading->message,
                         "a location with a function that is not there", &message, error))
        return false;
    *to = reading->functions[index];
    if (to->name.data != NULL)
        return true;
    protobuf_reader_init(&reader, message, dictionary->tables.file);
    while (protobuf_reader_next(&reader, &field, error))
        if (field.wire == PROTOBUF_VARINT && field.number < COUNT_OF(places) &&
            !otlp_string(&dictionary->tables, field.value, message, places[field.number], error))
            return false;
    *to = reading->functions[index] = function;
    return !reader.failed;
}

static bool read_mapping(struct location_reading *reading, uint64_t index, struct error *error)
{
    const struct otlp_dictionary *dictionary = reading->dictionary;
    struct protobuf_reader reader;
    struct protobuf_field field;
    struct text_view message, file = TEXT("");
    if (!otlp_tables_get(&dictionary->tables, OTLP_MAPPINGS, index, reading->message,
                         "a location with a mapping that is not there", &message, error))
        return false;
    reading->mapping_file = reading->mapping_files[index];
    if (reading->mapping_file.data != NULL)
        return true;
    protobuf_reader_init(&reader, message, dictionary->tables.file);
    while (protobuf_reader_next(&reader, &field, error))
        if (field.number == MAPPING_FILE && field.wire == PROTOBUF_VARINT &&
            !otlp_string(&dictionary->tables, field.value, message, &file, error))
            return false;
    reading->mapping_file = reading->mapping_files[index] = file;
    return !reader.failed;
}

/* ---- locations ---- */

static enum frame_kind kind_of_type(struct text_view type)
{
    static const struct {
        const char *type;
        enum frame_kind kind;
    } kinds[] = {
        {"kernel", FRAME_KERNEL}, {"native", FRAME_NATIVE},  {"go", FRAME_NATIVE},
        {"rust", FRAME_NATIVE},   {"cpython", FRAME_PYTHON}, {"jvm", FRAME_COMPILED},
    };
    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        if (text_equal(type, text_of(kinds[i].type)))
            return kinds[i].kind;
    return FRAME_UNKNOWN;
}

static bool read_attribute(struct location_reading *reading, uint64_t index, struct error *error)
{
    const struct otlp_dictionary *dictionary = reading->dictionary;
    struct otlp_attribute attribute;
    struct text_view message;
    if (!otlp_tables_get(&dictionary->tables, OTLP_ATTRIBUTES, index, reading->message,
                         "a location with an attribute that is not there", &message, error))
        return false;
    uint8_t *kind = &reading->kinds[index];
    if (*kind == KIND_UNREAD) {
        if (!otlp_attribute_read(&attribute, &dictionary->tables, message, OTLP_KEY_VALUE_AND_UNIT, error))
            return false;
        *kind = KIND_NONE;
        if (text_equal(attribute.name, TEXT("profile.frame.type")))
            *kind = (uint8_t)(KIND_FIRST + kind_of_type(attribute.value));
    }
    if (*kind != KIND_NONE)
        reading->kind = (enum frame_kind)(*kind - KIND_FIRST);
    return true;
}

static bool read_kind(struct location_reading *reading, struct error *error)
{
    reading->kind = FRAME_UNKNOWN;
    for (size_t i = 0; i < reading->attributes.count; i++)
        if (!read_attribute(reading, reading->attributes.items[i], error))
            return false;
    if (reading->kind == FRAME_UNKNOWN && text_starts_with(reading->mapping_file, TEXT("[kernel")))
        reading->kind = FRAME_KERNEL;
    return true;
}

static bool append_frame(struct otlp_dictionary *dictionary, uint32_t frame, struct error *error)
{
    if (frame == NO_FRAME || !array_reserve(&dictionary->frames, &dictionary->frame_capacity,
                                            dictionary->frame_count + 1, OTLP_ITEM_LIMIT))
        return error_set_memory(error);
    dictionary->frames[dictionary->frame_count++] = frame;
    return true;
}

/* Code without a symbol: "libc.so.6+0x1f0", or only the address. */
static bool append_address(struct location_reading *reading, struct error *error)
{
    char name[256];
    struct text_view file = reading->mapping_file;
    size_t slash = text_find_last_byte(file, '/');
    if (slash != TEXT_NOT_FOUND)
        file = text_from(file, slash + 1);
    file = text_part(file, 0, sizeof(name) - 32);
    int size = snprintf(name, sizeof(name), "%.*s%s0x%llx", TEXT_FORMAT(file), file.size > 0 ? "+" : "",
                        (unsigned long long)reading->address);
    struct text_view text = {name, (size_t)size};
    enum frame_kind kind = reading->kind == FRAME_UNKNOWN ? FRAME_NATIVE : reading->kind;
    return append_frame(reading->dictionary, profile_frame(reading->profile, text, TEXT(""), 0, kind), error);
}

static bool append_line(struct location_reading *reading, struct text_view message, struct error *error)
{
    struct otlp_dictionary *dictionary = reading->dictionary;
    struct protobuf_reader reader;
    struct protobuf_field field;
    struct otlp_function function;
    uint64_t index = 0, line = 0;
    protobuf_reader_init(&reader, message, dictionary->tables.file);
    while (protobuf_reader_next(&reader, &field, error)) {
        if (field.number == 1 && field.wire == PROTOBUF_VARINT)
            index = field.value;
        else if (field.number == 2 && field.wire == PROTOBUF_VARINT)
            line = field.value;
    }
    if (reader.failed || !read_function(reading, index, &function, error))
        return false;
    struct text_view name = function.name.size > 0 ? function.name : function.system_name;
    if (name.size == 0)
        return append_address(reading, error);
    /* Names of Python's functions say little without their file. */
    if (!dictionary->needs_lines && !text_ends_with(function.file, TEXT(".py")))
        function.file = TEXT("");
    uint32_t at = dictionary->needs_lines && line <= UINT32_MAX ? (uint32_t)line : 0;
    return append_frame(dictionary, profile_frame(reading->profile, name, function.file, at, reading->kind),
                        error);
}

static bool take_line(void *context, const struct protobuf_field *field, struct error *error)
{
    return field->number != LOCATION_LINES || field->wire != PROTOBUF_BYTES ||
           append_line(context, field->bytes, error);
}

/* All but the lines, which need it. */
static bool take_place(void *context, const struct protobuf_field *field, struct error *error)
{
    struct location_reading *reading = context;
    if (field->number == LOCATION_MAPPING && field->wire == PROTOBUF_VARINT)
        return read_mapping(reading, field->value, error);
    if (field->number == LOCATION_ADDRESS && field->wire == PROTOBUF_VARINT)
        reading->address = field->value;
    return field->number != LOCATION_ATTRIBUTES ||
           otlp_numbers_add(&reading->attributes, field, reading->dictionary->tables.file, error);
}

static void reverse(uint32_t *items, size_t count)
{
    for (size_t i = 0; i < count / 2; i++) {
        uint32_t item = items[i];
        items[i] = items[count - 1 - i];
        items[count - 1 - i] = item;
    }
}

/* The message has the innermost of the inlined calls first. */
static bool add_location(struct location_reading *reading, struct text_view message, struct error *error)
{
    struct otlp_dictionary *dictionary = reading->dictionary;
    size_t first = dictionary->frame_count;
    reading->message = message;
    reading->mapping_file = TEXT("");
    reading->address = 0;
    reading->attributes.count = 0;
    if (!otlp_each_field(message, dictionary->tables.file, take_place, reading, error) ||
        !read_kind(reading, error) ||
        !otlp_each_field(message, dictionary->tables.file, take_line, reading, error) ||
        (dictionary->frame_count == first && !append_address(reading, error)))
        return false;
    reverse(dictionary->frames + first, dictionary->frame_count - first);
    dictionary->locations[dictionary->location_count++] =
        (struct otlp_location){(uint32_t)first, (uint32_t)(dictionary->frame_count - first)};
    return true;
}

static bool reserve(struct location_reading *reading)
{
    const struct otlp_entries *tables = reading->dictionary->tables.of;
    reading->mapping_files = calloc(tables[OTLP_MAPPINGS].count + 1, sizeof(*reading->mapping_files));
    reading->functions = calloc(tables[OTLP_FUNCTIONS].count + 1, sizeof(*reading->functions));
    reading->kinds = calloc(tables[OTLP_ATTRIBUTES].count + 1, sizeof(*reading->kinds));
    return reading->mapping_files != NULL && reading->functions != NULL && reading->kinds != NULL;
}

static bool add_locations(struct otlp_dictionary *dictionary, struct profile *profile, struct error *error)
{
    const struct otlp_entries *table = &dictionary->tables.of[OTLP_LOCATIONS];
    struct location_reading reading = {.dictionary = dictionary, .profile = profile};
    dictionary->locations = calloc(table->count + 1, sizeof(*dictionary->locations));
    bool good = (reserve(&reading) && dictionary->locations != NULL) || error_set_memory(error);
    dictionary->location_count = table->count > 0; /* the first has no frames */
    for (size_t i = 1; good && i < table->count; i++)
        good = add_location(&reading, table->items[i], error);
    otlp_numbers_release(&reading.attributes);
    free(reading.mapping_files);
    free(reading.functions);
    free(reading.kinds);
    return good;
}

bool otlp_dictionary_read(struct otlp_dictionary *dictionary, struct text_view request, bool needs_lines,
                          struct profile *profile, struct error *error)
{
    *dictionary = (struct otlp_dictionary){.needs_lines = needs_lines};
    return otlp_tables_read(&dictionary->tables, request, OTLP_ITEM_LIMIT, error) &&
           add_locations(dictionary, profile, error);
}
