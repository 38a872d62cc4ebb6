#include "spark/event_log/json_fields.h"

#include "base/redaction.h"

static const struct json_field *find_field(const struct json_field *fields, struct text_view key)
{
    for (; fields->key.data != NULL; fields++)
        if (text_equal(key, fields->key))
            return fields;
    return NULL;
}

static bool store_integer(struct json_fields_reader *reader, enum json_token token, int64_t *place)
{
    const struct json_reader *json = reader->json;
    if (token == JSON_NUMBER && json->is_integer)
        *place = json->integer;
    else if (token == JSON_NUMBER && json->number > -9e18 && json->number < 9e18)
        *place = (int64_t)json->number;
    else if (token == JSON_TEXT)
        (void)text_to_i64(reader->json->text, place);
    return true;
}

uint32_t json_fields_text(struct json_fields_reader *reader)
{
    struct text_view text = reader->json->text;
    if (reader->redacted != NULL && redaction_apply(text, reader->redacted)) {
        if (reader->redacted->failed)
            return NO_STRING;
        text = text_builder_view(reader->redacted);
    }
    return string_table_add(reader->strings, text);
}

static bool store_text(struct json_fields_reader *reader, uint32_t *place)
{
    reader->needs_strings = reader->needs_strings || reader->strings == NULL;
    if (reader->strings == NULL)
        return true;
    uint32_t number = json_fields_text(reader);
    if (number == NO_STRING)
        return error_set_memory(reader->error);
    *place = number;
    return true;
}

static bool store_view(struct json_fields_reader *reader, struct text_view *place)
{
    const struct json_reader *json = reader->json;
    bool is_as_it_is = json->text.data >= json->begin && json->text.data <= json->end;
    uint32_t number = 0;
    if (is_as_it_is) {
        *place = json->text;
        return true;
    }
    if (!store_text(reader, &number))
        return false;
    *place = reader->strings == NULL ? TEXT("") : string_table_text(reader->strings, number);
    return true;
}

static bool store(struct json_fields_reader *reader, const struct json_field *field, enum json_token token,
                  char *target)
{
    char *place = target + field->offset;
    bool is_nested = token == JSON_OBJECT_BEGIN || token == JSON_ARRAY_BEGIN;
    if (field->kind == FIELD_OTHER)
        return field->read(reader, token, place);
    if (field->kind == FIELD_OBJECT && token == JSON_OBJECT_BEGIN)
        return json_fields_read(reader, field->fields, place);
    if (is_nested)
        return json_reader_skip(reader->json, token, reader->error);
    if (field->kind == FIELD_INTEGER)
        return store_integer(reader, token, (int64_t *)place);
    if (field->kind == FIELD_BOOL)
        *(bool *)place = token == JSON_TRUE;
    else if (field->kind == FIELD_TEXT && token == JSON_TEXT)
        return store_text(reader, (uint32_t *)place);
    else if (field->kind == FIELD_VIEW && token == JSON_TEXT)
        return store_view(reader, (struct text_view *)place);
    return true;
}

/* The field of the next key, with its value unread; NULL: the key is of no field, or there is none: then *is_end is
 * set. False: failed. */
static bool next_field(struct json_fields_reader *reader, const struct json_field *fields,
                       const struct json_field **field, bool *is_end)
{
    struct json_reader *json = reader->json;
    enum json_token token = json_reader_next(json, reader->error);
    *field = token == JSON_KEY ? find_field(fields, json->text) : NULL;
    *is_end = token == JSON_OBJECT_END;
    if (token == JSON_KEY || token == JSON_OBJECT_END)
        return true;
    return token == JSON_FAILED ? false : json_reader_fail(json, reader->error, "a key is expected");
}

bool json_fields_read(struct json_fields_reader *reader, const struct json_field *fields, void *target)
{
    struct json_reader *json = reader->json;
    const struct json_field *expected = fields;
    for (;;) {
        const struct json_field *field = expected;
        bool is_end = false;
        if ((expected->key.data == NULL || !json_reader_take_key(json, expected->key)) &&
            !next_field(reader, fields, &field, &is_end))
            return false;
        if (is_end)
            return true;
        if (field == NULL) {
            if (!json_reader_skip_next(json, reader->error))
                return false;
            continue;
        }
        expected = field + 1;
        int64_t integer;
        if (field->kind <= FIELD_NOTHING && json_reader_take_integer(json, &integer)) {
            if (field->kind == FIELD_INTEGER)
                *(int64_t *)((char *)target + field->offset) = integer;
            continue;
        }
        enum json_token token = json_reader_next(json, reader->error);
        if (token == JSON_FAILED || !store(reader, field, token, target))
            return false;
    }
}
