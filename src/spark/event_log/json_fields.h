/*
 * json_fields.h - reads JSON objects into structs by tables: which key goes where.
 *
 * Keys without a table entry are skipped; a value of an unexpected type leaves its field unchanged. It is quickest
 * when keys come in the order of their table.
 *
 * Owns: nothing. Strings go to a string table.
 */
#ifndef SPARK_JSON_FIELDS_H
#define SPARK_JSON_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/string_table.h"
#include "base/text_builder.h"
#include "base/text_view.h"
#include "input/json_reader.h"

enum json_field_kind {
    FIELD_INTEGER, /* int64_t; numbers in quotes too */
    FIELD_NOTHING, /* skipped; listed because it comes between others */
    FIELD_TEXT,    /* uint32_t, string number */
    FIELD_VIEW, /* struct text_view, of the JSON where that has the text as it is, else of the string table */
    FIELD_BOOL, /* bool */
    FIELD_OBJECT, /* `fields`, relative to the offset */
    FIELD_OTHER,  /* `read` is called with the first token of the value */
};

struct json_field;

struct json_fields_reader {
    struct json_reader *json;
    struct string_table
        *strings; /* NULL: there is none; a text that needs it sets `needs_strings` and is left out */
    bool needs_strings;
    struct error *error;
    void *context;                 /* for FIELD_OTHER */
    struct text_builder *redacted; /* room to hide secrets of texts in; NULL: they are shown */
};

#define FIELD_KEY(literal)           \
    {                                \
        literal, sizeof(literal) - 1 \
    }

struct json_field {
    struct text_view key; /* NULL ends a table */
    enum json_field_kind kind;
    size_t offset;
    const struct json_field *fields;
    /* Must consume the value; false: failed, *reader->error is set. */
    bool (*read)(struct json_fields_reader *reader, enum json_token first, void *place);
};

/* The text that was just read, without secrets, in the string table; NO_STRING: out of memory. */
uint32_t json_fields_text(struct json_fields_reader *reader) MUST_CHECK;
/* Reads the rest of an object whose beginning was read. */
bool json_fields_read(struct json_fields_reader *reader, const struct json_field *fields,
                      void *target) MUST_CHECK;

#endif
