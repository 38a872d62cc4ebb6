#include "formats/jfr/jfr_metadata.h"

#include "base/array.h"

#include <stdlib.h>

#define ARENA_LIMIT_BYTES ((size_t)256 << 20)
#define MOST_TYPES ((size_t)1 << 20)
#define MOST_FIELDS ((size_t)1 << 16)
#define DEEPEST_ELEMENT 16

/* What is known while the tree of elements is read. */
struct element_reader {
    struct jfr_metadata *metadata;
    struct jfr_cursor cursor;
    struct text_view *strings;
    size_t string_count;
    struct jfr_field *fields; /* of the class that is being read */
    size_t field_count;
    size_t field_capacity;
    struct error *error;
};

struct element_attributes {
    struct text_view name;
    struct text_view super_type;
    uint64_t id;
    uint64_t type;
    bool is_constant;
    bool is_array;
};

static bool bad_metadata(struct element_reader *reader, const char *why)
{
    return error_set(reader->error, ERROR_BAD_INPUT, "metadata: %s", why);
}

static bool read_strings(struct element_reader *reader)
{
    uint64_t count = jfr_varint(&reader->cursor);
    if (!jfr_has_room_for(&reader->cursor, count))
        return bad_metadata(reader, "more strings than bytes");
    reader->strings = malloc((count + 1) * sizeof(*reader->strings));
    if (reader->strings == NULL)
        return error_set_memory(reader->error);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t constant;
        if (!jfr_string(&reader->cursor, &reader->metadata->arena, &reader->strings[i], &constant))
            return bad_metadata(reader, "a string is cut off");
        reader->strings[i] = arena_copy_text(&reader->metadata->arena, reader->strings[i]);
        if (reader->strings[i].data == NULL)
            return error_set_memory(reader->error);
    }
    reader->string_count = count;
    return true;
}

static struct text_view next_string(struct element_reader *reader)
{
    uint64_t number = jfr_varint(&reader->cursor);
    if (number < reader->string_count)
        return reader->strings[number];
    (void)jfr_fail(&reader->cursor);
    return TEXT("");
}

static void take_attribute(struct element_attributes *attributes, struct text_view key,
                           struct text_view value)
{
    uint64_t number = 0;
    if (text_equal(key, TEXT("name")))
        attributes->name = value;
    else if (text_equal(key, TEXT("superType")))
        attributes->super_type = value;
    else if (text_equal(key, TEXT("id")) && text_to_u64(value, &number))
        attributes->id = number;
    else if (text_equal(key, TEXT("class")) && text_to_u64(value, &number))
        attributes->type = number;
    else if (text_equal(key, TEXT("constantPool")))
        attributes->is_constant = text_equal(value, TEXT("true"));
    else if (text_equal(key, TEXT("dimension")))
        attributes->is_array = text_to_u64(value, &number) && number > 0;
}

static bool add_field(struct element_reader *reader, const struct element_attributes *attributes)
{
    if (!array_reserve(&reader->fields, &reader->field_capacity, reader->field_count + 1, MOST_FIELDS))
        return bad_metadata(reader, "a type has too many fields");
    reader->fields[reader->field_count++] =
        (struct jfr_field){attributes->name, attributes->type, attributes->is_constant, attributes->is_array};
    return true;
}

static bool add_type(struct element_reader *reader, const struct element_attributes *attributes)
{
    struct jfr_metadata *metadata = reader->metadata;
    size_t size = reader->field_count * sizeof(*reader->fields);
    struct jfr_type type = {
        .id = attributes->id, .name = attributes->name, .field_count = reader->field_count};
    type.is_event = text_equal(attributes->super_type, TEXT("jdk.jfr.Event"));
    type.fields = arena_allocate(&metadata->arena, size == 0 ? 1 : size);
    if (type.fields == NULL ||
        !array_reserve(&metadata->types, &metadata->type_capacity, metadata->type_count + 1, MOST_TYPES) ||
        !id_map_set(&metadata->by_id, type.id, (uint32_t)metadata->type_count))
        return error_set_memory(reader->error);
    if (size > 0)
        memcpy(type.fields, reader->fields, size);
    metadata->types[metadata->type_count++] = type;
    reader->field_count = 0;
    return true;
}

/* Elements: root > metadata > class > field > annotation; a class's fields are known when its children are read. */
static bool read_element(struct element_reader *reader, unsigned depth)
{
    struct text_view kind = next_string(reader);
    struct element_attributes attributes = {.name = TEXT("")};
    uint64_t attribute_count = jfr_varint(&reader->cursor);
    for (uint64_t i = 0; i < attribute_count && !reader->cursor.failed; i++) {
        struct text_view key = next_string(reader);
        take_attribute(&attributes, key, next_string(reader));
    }
    uint64_t child_count = jfr_varint(&reader->cursor);
    if (reader->cursor.failed || depth > DEEPEST_ELEMENT)
        return bad_metadata(reader,
                            depth > DEEPEST_ELEMENT ? "elements nest too deep" : "an element is cut off");
    for (uint64_t i = 0; i < child_count; i++)
        if (!read_element(reader, depth + 1))
            return false;
    if (text_equal(kind, TEXT("field")))
        return add_field(reader, &attributes);
    if (text_equal(kind, TEXT("class")))
        return add_type(reader, &attributes);
    return true;
}

bool jfr_metadata_read(struct jfr_metadata *metadata, struct jfr_cursor cursor, struct error *error)
{
    *metadata = (struct jfr_metadata){.types = NULL};
    arena_init(&metadata->arena, ARENA_LIMIT_BYTES);
    id_map_init(&metadata->by_id);
    struct element_reader reader = {.metadata = metadata, .cursor = cursor, .error = error};
    jfr_skip_varints(&reader.cursor, 5); /* size, type, time, duration, number */
    bool good = read_strings(&reader) && read_element(&reader, 0);
    free(reader.strings);
    free(reader.fields);
    if (!good)
        jfr_metadata_release(metadata);
    return good;
}

void jfr_metadata_release(struct jfr_metadata *metadata)
{
    arena_release(&metadata->arena);
    id_map_release(&metadata->by_id);
    free(metadata->types);
    *metadata = (struct jfr_metadata){.types = NULL};
}

const struct jfr_type *jfr_metadata_type(const struct jfr_metadata *metadata, uint64_t id)
{
    uint32_t index = id_map_get(&metadata->by_id, id);
    return index == NO_ID ? NULL : &metadata->types[index];
}

const struct jfr_type *jfr_metadata_type_by_name(const struct jfr_metadata *metadata, struct text_view name)
{
    for (size_t i = 0; i < metadata->type_count; i++)
        if (text_equal(metadata->types[i].name, name))
            return &metadata->types[i];
    return NULL;
}

const struct jfr_field *jfr_type_field(const struct jfr_type *type, const char *name)
{
    for (size_t i = 0; i < type->field_count; i++)
        if (text_equal(type->fields[i].name, text_of(name)))
            return &type->fields[i];
    return NULL;
}
