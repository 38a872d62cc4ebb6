/*
 * jfr_metadata.h - the types of a chunk, and the layout of their values.
 *
 * Owns: types, names and layouts, in its arena, until jfr_metadata_release().
 * Threads: one at a time while layouts are made.
 * Limit: arena, number of types and fields, nesting and size of layouts; beyond them the input is invalid.
 */
#ifndef FORMATS_JFR_METADATA_H
#define FORMATS_JFR_METADATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attributes.h"
#include "base/error.h"
#include "base/id_map.h"
#include "base/text_view.h"
#include "jfr/jfr_bytes.h"

struct jfr_field {
    struct text_view name;
    uint64_t type;
    bool is_constant; /* written as a number in the pool of its type */
    bool is_array;
};

struct jfr_type {
    uint64_t id;
    struct text_view name;
    bool is_event;
    struct jfr_field *fields;
    size_t field_count;
};

struct jfr_metadata {
    struct arena arena;
    struct jfr_type *types;
    size_t type_count;
    size_t type_capacity;
    struct id_map by_id;  /* index in types */
    size_t layout_values; /* of all layouts, for the limit */
};

/* How one value is written. */
enum jfr_code {
    JFR_CODE_VARINT,
    JFR_CODE_BYTE,
    JFR_CODE_FIXED4,
    JFR_CODE_FIXED8,
    JFR_CODE_STRING,
    JFR_CODE_ARRAY, /* a count, then elements */
};

#define JFR_NO_SLOT UINT8_MAX

struct jfr_operation {
    uint8_t code;
    uint8_t slot;                     /* where jfr_layout_read() puts the value, or JFR_NO_SLOT */
    const struct jfr_layout *element; /* of an array */
};

struct jfr_layout {
    struct jfr_operation *operations; /* inner structs are written flat */
    size_t count;
    size_t needed;   /* operations up to the last one with a slot */
    bool is_varints; /* nothing but compressed integers (and booleans, which look like them) */
};

/* A field that a caller wants, and the slot for it. */
struct jfr_wanted {
    const char *field;
    uint8_t slot;
};

/* Reads the metadata event that begins at the cursor. */
bool jfr_metadata_read(struct jfr_metadata *metadata, struct jfr_cursor cursor,
                       struct error *error) MUST_CHECK;
void jfr_metadata_release(struct jfr_metadata *metadata);
/* NULL when there is no such type. */
const struct jfr_type *jfr_metadata_type(const struct jfr_metadata *metadata, uint64_t id);
const struct jfr_type *jfr_metadata_type_by_name(const struct jfr_metadata *metadata, struct text_view name);
const struct jfr_field *jfr_type_field(const struct jfr_type *type, const char *name);
/* The layout of values of the type; wanted fields of the type (not of nested structs) get their slots. */
const struct jfr_layout *jfr_layout_new(struct jfr_metadata *metadata, const struct jfr_type *type,
                                        const struct jfr_wanted *wanted, size_t wanted_count,
                                        struct error *error) MUST_CHECK;
/* Skips one value of the type. */
void jfr_layout_skip(const struct jfr_layout *layout, struct jfr_cursor *cursor);
/* Reads the wanted fields up to the last of them. Integers and bit patterns as they are; for strings and arrays the
 * address of their first byte. */
void jfr_layout_read(const struct jfr_layout *layout, struct jfr_cursor *cursor, uint64_t *slots);
/* Moves the cursor to the value of that slot, without looking at it. False: there is none. */
bool jfr_layout_find(const struct jfr_layout *layout, struct jfr_cursor *cursor, uint8_t slot) MUST_CHECK;

#endif
