#include "collector/querier_call.h"

#include <string.h>

#include "formats/pprof/protobuf_reader.h"
#include "input/json_reader.h"

/* What a field of a message is for. */
enum member {
    MEMBER_START,
    MEMBER_END,
    MEMBER_SELECTORS,
    MEMBER_LABEL_NAMES,
    MEMBER_NAME,
    MEMBER_PROFILE_TYPE,
    MEMBER_MAX_NODES,
    MEMBER_FORMAT,
    MEMBER_STEP,
};

struct call_field {
    enum querier_method method;
    uint32_t number;
    const char *name; /* in JSON */
    const char *other_name;
    enum member member;
};

static const struct call_field fields[] = {
    {QUERIER_PROFILE_TYPES, 1, "start", NULL, MEMBER_START},
    {QUERIER_PROFILE_TYPES, 2, "end", NULL, MEMBER_END},
    {QUERIER_LABEL_NAMES, 1, "matchers", NULL, MEMBER_SELECTORS},
    {QUERIER_LABEL_NAMES, 2, "start", NULL, MEMBER_START},
    {QUERIER_LABEL_NAMES, 3, "end", NULL, MEMBER_END},
    {QUERIER_LABEL_VALUES, 1, "name", NULL, MEMBER_NAME},
    {QUERIER_LABEL_VALUES, 2, "matchers", NULL, MEMBER_SELECTORS},
    {QUERIER_LABEL_VALUES, 3, "start", NULL, MEMBER_START},
    {QUERIER_LABEL_VALUES, 4, "end", NULL, MEMBER_END},
    {QUERIER_SERIES, 1, "matchers", NULL, MEMBER_SELECTORS},
    {QUERIER_SERIES, 2, "labelNames", "label_names", MEMBER_LABEL_NAMES},
    {QUERIER_SERIES, 3, "start", NULL, MEMBER_START},
    {QUERIER_SERIES, 4, "end", NULL, MEMBER_END},
    {QUERIER_MERGE_STACKTRACES, 1, "profileTypeID", "profile_typeID", MEMBER_PROFILE_TYPE},
    {QUERIER_MERGE_STACKTRACES, 2, "labelSelector", "label_selector", MEMBER_SELECTORS},
    {QUERIER_MERGE_STACKTRACES, 3, "start", NULL, MEMBER_START},
    {QUERIER_MERGE_STACKTRACES, 4, "end", NULL, MEMBER_END},
    {QUERIER_MERGE_STACKTRACES, 5, "maxNodes", "max_nodes", MEMBER_MAX_NODES},
    {QUERIER_MERGE_STACKTRACES, 6, "format", NULL, MEMBER_FORMAT},
    {QUERIER_MERGE_PROFILE, 1, "profileTypeID", "profile_typeID", MEMBER_PROFILE_TYPE},
    {QUERIER_MERGE_PROFILE, 2, "labelSelector", "label_selector", MEMBER_SELECTORS},
    {QUERIER_MERGE_PROFILE, 3, "start", NULL, MEMBER_START},
    {QUERIER_MERGE_PROFILE, 4, "end", NULL, MEMBER_END},
    {QUERIER_MERGE_PROFILE, 5, "maxNodes", "max_nodes", MEMBER_MAX_NODES},
    {QUERIER_SELECT_SERIES, 1, "profileTypeID", "profile_typeID", MEMBER_PROFILE_TYPE},
    {QUERIER_SELECT_SERIES, 2, "labelSelector", "label_selector", MEMBER_SELECTORS},
    {QUERIER_SELECT_SERIES, 3, "start", NULL, MEMBER_START},
    {QUERIER_SELECT_SERIES, 4, "end", NULL, MEMBER_END},
    {QUERIER_SELECT_SERIES, 5, "groupBy", "group_by", MEMBER_LABEL_NAMES},
    {QUERIER_SELECT_SERIES, 6, "step", NULL, MEMBER_STEP},
};

static bool add_text(struct querier_texts *texts, struct text_view text, struct error *error)
{
    if (texts->count == QUERIER_TEXTS)
        return error_set(error, ERROR_BAD_INPUT, "more than %d matchers or names", QUERIER_TEXTS);
    texts->items[texts->count++] = text;
    return true;
}

static bool set_text(struct querier_call *call, enum member member, struct text_view text,
                     struct error *error)
{
    struct text_view copy = arena_copy_text(&call->arena, text);
    if (copy.data == NULL)
        return error_set_memory(error);
    switch (member) {
    case MEMBER_SELECTORS:
        return add_text(&call->selectors, copy, error);
    case MEMBER_LABEL_NAMES:
        return add_text(&call->label_names, copy, error);
    case MEMBER_NAME:
        call->name = copy;
        return true;
    case MEMBER_PROFILE_TYPE:
        call->profile_type = copy;
        return true;
    default:
        return true;
    }
}

static void set_number(struct querier_call *call, enum member member, uint64_t number)
{
    /* A negative one is as none. */
    number = number > INT64_MAX ? 0 : number;
    if (member == MEMBER_START)
        call->start_ms = number;
    else if (member == MEMBER_END)
        call->end_ms = number;
    else if (member == MEMBER_MAX_NODES)
        call->max_nodes = number;
    else if (member == MEMBER_FORMAT)
        call->format = number;
}

/* ---- protobuf ---- */

static const struct call_field *find_number(enum querier_method method, uint32_t number)
{
    for (size_t i = 0; i < COUNT_OF(fields); i++)
        if (fields[i].method == method && fields[i].number == number)
            return &fields[i];
    return NULL;
}

static bool read_protobuf(struct querier_call *call, struct text_view body, struct error *error)
{
    struct protobuf_reader reader;
    struct protobuf_field field;
    protobuf_reader_init(&reader, body, body.data);
    while (protobuf_reader_next(&reader, &field, error)) {
        const struct call_field *known = find_number(call->method, field.number);
        if (known == NULL)
            continue;
        if (field.wire == PROTOBUF_FIXED64 && known->member == MEMBER_STEP)
            memcpy(&call->step_s, &field.value, sizeof(call->step_s));
        else if (field.wire == PROTOBUF_VARINT)
            set_number(call, known->member, field.value);
        else if (field.wire == PROTOBUF_BYTES && !set_text(call, known->member, field.bytes, error))
            return false;
    }
    return !reader.failed;
}

/* ---- JSON ---- */

static const struct call_field *find_name(enum querier_method method, struct text_view name)
{
    for (size_t i = 0; i < COUNT_OF(fields); i++)
        if (fields[i].method == method &&
            (text_equal(name, text_of(fields[i].name)) ||
             (fields[i].other_name != NULL && text_equal(name, text_of(fields[i].other_name)))))
            return &fields[i];
    return NULL;
}

/* Numbers may be texts, those of 64 bits always are; formats have names. */
static bool take_text(struct querier_call *call, enum member member, struct text_view text,
                      struct error *error)
{
    int64_t number;
    switch (member) {
    case MEMBER_FORMAT:
        number = text_equal(text, TEXT("PROFILE_FORMAT_FLAMEGRAPH"))    ? QUERIER_FORMAT_FLAMEGRAPH
                 : text_equal(text, TEXT("PROFILE_FORMAT_UNSPECIFIED")) ? QUERIER_FORMAT_DEFAULT
                                                                        : QUERIER_FORMAT_FLAMEGRAPH + 1;
        set_number(call, member, (uint64_t)number);
        return true;
    case MEMBER_STEP:
        return text_to_double(text, &call->step_s) ||
               error_set(error, ERROR_BAD_INPUT, "the step is not a number");
    case MEMBER_START:
    case MEMBER_END:
    case MEMBER_MAX_NODES:
        if (!text_to_i64(text, &number))
            return error_set(error, ERROR_BAD_INPUT, "a text is not the number that was expected");
        set_number(call, member, (uint64_t)number);
        return true;
    default:
        return set_text(call, member, text, error);
    }
}

static bool take_value(struct querier_call *call, enum member member, struct json_reader *json,
                       struct error *error)
{
    enum json_token token = json_reader_next(json, error);
    if (token == JSON_TEXT)
        return take_text(call, member, json->text, error);
    if (token == JSON_NUMBER && member == MEMBER_STEP)
        call->step_s = json->number;
    else if (token == JSON_NUMBER && json->is_integer)
        set_number(call, member, (uint64_t)json->integer);
    if (token != JSON_ARRAY_BEGIN)
        return token != JSON_FAILED && json_reader_skip(json, token, error);
    while ((token = json_reader_next(json, error)) == JSON_TEXT)
        if (!set_text(call, member, json->text, error))
            return false;
    return token == JSON_ARRAY_END ||
           (token != JSON_FAILED && json_reader_fail(json, error, "a list of texts was expected"));
}

static bool read_json(struct querier_call *call, struct text_view body, struct error *error)
{
    struct json_reader json;
    enum json_token token = JSON_FAILED;
    json_reader_init_memory(&json, body, 0, QUERIER_CALL_BYTES);
    bool good = json_reader_expect(&json, JSON_OBJECT_BEGIN, "an object", error);
    while (good && (token = json_reader_next(&json, error)) == JSON_KEY) {
        const struct call_field *known = find_name(call->method, json.text);
        good = known == NULL ? json_reader_skip_next(&json, error)
                             : take_value(call, known->member, &json, error);
    }
    good = good && token == JSON_OBJECT_END;
    if (good && json_reader_next(&json, error) != JSON_END)
        good = json_reader_fail(&json, error, "there is more after the message");
    json_reader_release(&json);
    return good;
}

bool querier_call_read(struct querier_call *call, enum querier_method method, bool is_json,
                       struct text_view body, struct error *error)
{
    *call = (struct querier_call){.method = method, .is_json = is_json};
    call->name = call->profile_type = TEXT("");
    arena_init(&call->arena, QUERIER_CALL_BYTES);
    if (body.size > QUERIER_CALL_BYTES / 2)
        return error_set(error, ERROR_BAD_INPUT, "the message is too large");
    return is_json ? read_json(call, body, error) : read_protobuf(call, body, error);
}

void querier_call_release(struct querier_call *call)
{
    arena_release(&call->arena);
}
