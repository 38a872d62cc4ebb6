/*
 * jfr_layout.c - from a type's fields to the order of bytes.
 */
#include "base/array.h"
#include "formats/jfr/jfr_metadata.h"

#include <stdlib.h>

#define DEEPEST_STRUCT 16
#define MOST_OPERATIONS ((size_t)4096)
#define MOST_LAYOUT_VALUES ((size_t)1 << 20)

struct layout_maker {
    struct jfr_metadata *metadata;
    struct jfr_operation *operations;
    size_t count;
    size_t capacity;
    struct error *error;
};

/* A boolean is a byte, 0 or 1, which looks the same as an integer; so records of both are skipped together. */
static const struct {
    const char *name;
    enum jfr_code code;
} primitives[] = {
    {"boolean", JFR_CODE_VARINT}, {"byte", JFR_CODE_BYTE},     {"char", JFR_CODE_VARINT},
    {"short", JFR_CODE_VARINT},   {"int", JFR_CODE_VARINT},    {"long", JFR_CODE_VARINT},
    {"float", JFR_CODE_FIXED4},   {"double", JFR_CODE_FIXED8}, {"java.lang.String", JFR_CODE_STRING},
};

static bool add_operation(struct layout_maker *maker, enum jfr_code code, uint8_t slot,
                          const struct jfr_layout *element)
{
    if (!array_reserve(&maker->operations, &maker->capacity, maker->count + 1, MOST_OPERATIONS))
        return error_set(maker->error, ERROR_BAD_INPUT, "metadata: a type has too many fields");
    maker->operations[maker->count++] = (struct jfr_operation){(uint8_t)code, slot, element};
    return true;
}

static void describe(struct jfr_layout *layout)
{
    layout->is_varints = true;
    for (size_t i = 0; i < layout->count; i++) {
        if (layout->operations[i].slot != JFR_NO_SLOT)
            layout->needed = i + 1;
        if (layout->operations[i].code != JFR_CODE_VARINT)
            layout->is_varints = false;
    }
}

/* Keeps the operations in the arena; NULL when there is no memory or the caller failed to add them. */
static const struct jfr_layout *finish(struct layout_maker *maker, bool good)
{
    size_t size = maker->count * sizeof(*maker->operations);
    struct jfr_layout *layout =
        good ? arena_allocate_zeroed(&maker->metadata->arena, sizeof(*layout) + size) : NULL;
    if (good && layout == NULL)
        (void)error_set_memory(maker->error);
    if (layout != NULL) {
        layout->operations = (struct jfr_operation *)(layout + 1);
        layout->count = maker->count;
        if (size > 0)
            memcpy(layout->operations, maker->operations, size);
        describe(layout);
    }
    free(maker->operations);
    return layout;
}

static bool add_fields(struct layout_maker *maker, const struct jfr_type *type,
                       const struct jfr_wanted *wanted, size_t wanted_count, unsigned depth);

/* One value of the field's type, whatever its dimension. */
static bool add_value(struct layout_maker *maker, const struct jfr_field *field, uint8_t slot, unsigned depth)
{
    if (++maker->metadata->layout_values > MOST_LAYOUT_VALUES)
        return error_set(maker->error, ERROR_BAD_INPUT, "metadata: types are too large");
    if (field->is_constant)
        return add_operation(maker, JFR_CODE_VARINT, slot, NULL);
    const struct jfr_type *type = jfr_metadata_type(maker->metadata, field->type);
    if (type == NULL || depth > DEEPEST_STRUCT)
        return error_set(maker->error, ERROR_BAD_INPUT, "metadata: field %.*s %s", TEXT_FORMAT(field->name),
                         type == NULL ? "is of no known type" : "nests too deep");
    for (size_t i = 0; i < COUNT_OF(primitives); i++)
        if (text_equal(type->name, text_of(primitives[i].name)))
            return add_operation(maker, primitives[i].code, slot, NULL);
    return add_fields(maker, type, NULL, 0, depth + 1);
}

static bool add_field(struct layout_maker *maker, const struct jfr_field *field, uint8_t slot, unsigned depth)
{
    if (!field->is_array)
        return add_value(maker, field, slot, depth);
    struct layout_maker element_maker = {.metadata = maker->metadata, .error = maker->error};
    const struct jfr_layout *element =
        finish(&element_maker, add_value(&element_maker, field, JFR_NO_SLOT, depth + 1));
    return element != NULL && add_operation(maker, JFR_CODE_ARRAY, slot, element);
}

static bool add_fields(struct layout_maker *maker, const struct jfr_type *type,
                       const struct jfr_wanted *wanted, size_t wanted_count, unsigned depth)
{
    for (size_t i = 0; i < type->field_count; i++) {
        uint8_t slot = JFR_NO_SLOT;
        for (size_t j = 0; j < wanted_count && slot == JFR_NO_SLOT; j++)
            if (text_equal(type->fields[i].name, text_of(wanted[j].field)))
                slot = wanted[j].slot;
        if (!add_field(maker, &type->fields[i], slot, depth))
            return false;
    }
    return true;
}

const struct jfr_layout *jfr_layout_new(struct jfr_metadata *metadata, const struct jfr_type *type,
                                        const struct jfr_wanted *wanted, size_t wanted_count,
                                        struct error *error)
{
    struct layout_maker maker = {.metadata = metadata, .error = error};
    return finish(&maker, add_fields(&maker, type, wanted, wanted_count, 0));
}

static void skip_array(const struct jfr_layout *element, struct jfr_cursor *cursor)
{
    uint64_t count = jfr_varint(cursor);
    if (element->count == 0 || !jfr_has_room_for(cursor, count))
        return;
    if (element->is_varints) {
        jfr_skip_varints(cursor, count * element->count);
        return;
    }
    for (uint64_t i = 0; i < count && !cursor->failed; i++)
        jfr_layout_skip(element, cursor);
}

static inline void skip_one(const struct jfr_operation *operation, struct jfr_cursor *cursor)
{
    switch (operation->code) {
    case JFR_CODE_VARINT:
        (void)jfr_varint(cursor);
        break;
    case JFR_CODE_BYTE:
        (void)jfr_byte(cursor);
        break;
    case JFR_CODE_FIXED4:
        jfr_skip(cursor, 4);
        break;
    case JFR_CODE_FIXED8:
        jfr_skip(cursor, 8);
        break;
    case JFR_CODE_STRING:
        jfr_skip_string(cursor);
        break;
    default:
        skip_array(operation->element, cursor);
    }
}

void jfr_layout_skip(const struct jfr_layout *layout, struct jfr_cursor *cursor)
{
    if (layout->is_varints) {
        jfr_skip_varints(cursor, layout->count);
        return;
    }
    for (size_t i = 0; i < layout->count; i++)
        skip_one(&layout->operations[i], cursor);
}

static uint64_t read_one(const struct jfr_operation *operation, struct jfr_cursor *cursor)
{
    uint64_t place = (uint64_t)(uintptr_t)cursor->at;
    switch (operation->code) {
    case JFR_CODE_VARINT:
        return jfr_varint(cursor);
    case JFR_CODE_BYTE:
        return jfr_byte(cursor);
    case JFR_CODE_FIXED4:
        return jfr_fixed32(cursor);
    case JFR_CODE_FIXED8:
        return jfr_fixed64(cursor);
    default:
        skip_one(operation, cursor);
        return place;
    }
}

void jfr_layout_read(const struct jfr_layout *layout, struct jfr_cursor *cursor, uint64_t *slots)
{
    for (size_t i = 0; i < layout->needed; i++) {
        const struct jfr_operation *operation = &layout->operations[i];
        if (operation->slot == JFR_NO_SLOT)
            skip_one(operation, cursor);
        else
            slots[operation->slot] = read_one(operation, cursor);
    }
}

bool jfr_layout_find(const struct jfr_layout *layout, struct jfr_cursor *cursor, uint8_t slot)
{
    for (size_t i = 0; i < layout->needed; i++) {
        if (layout->operations[i].slot == slot)
            return !cursor->failed;
        skip_one(&layout->operations[i], cursor);
    }
    return false;
}
