#include "spark/json_fields.h"

#include "spark/redaction.h"

static const struct json_field *find_field(const struct json_field *fields, struct text_view key)
{
    char first = key.size > 0 ? key.data[0] : '\0';
    for (; fields->key != NULL; fields++)
        if (fields->key[0] == first && text_equal(key, text_of(fields->key)))
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
    uint32_t number = json_fields_text(reader);
    if (number == NO_STRING)
        return error_set_memory(reader->error);
    *place = number;
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
    return true;
}

bool json_fields_read(struct json_fields_reader *reader, const struct json_field *fields, void *target)
{
    struct json_reader *json = reader->json;
    for (;;) {
        enum json_token token = json_reader_next(json, reader->error);
        if (token == JSON_OBJECT_END)
            return true;
        if (token != JSON_KEY)
            return token == JSON_FAILED ? false : json_reader_fail(json, reader->error, "a key is expected");
        const struct json_field *field = find_field(fields, json->text);
        if (field == NULL) {
            if (!json_reader_skip_next(json, reader->error))
                return false;
            continue;
        }
        token = json_reader_next(json, reader->error);
        if (token == JSON_FAILED || !store(reader, field, token, target))
            return false;
    }
}
