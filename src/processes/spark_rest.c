#include "processes/spark_rest.h"

#include <stdlib.h>

#include "base/array.h"
#include "input/json_reader.h"

enum { ARENA_LIMIT_BYTES = 64 << 20, TEXT_LIMIT_BYTES = 1 << 20 };

void spark_rest_init(struct spark_rest *rest)
{
    *rest = (struct spark_rest){.applications = NULL};
    arena_init(&rest->arena, ARENA_LIMIT_BYTES);
}

void spark_rest_release(struct spark_rest *rest)
{
    free(rest->applications);
    free(rest->executors);
    arena_release(&rest->arena);
    spark_rest_init(rest);
}

/* Where the values of an object's keys go. */
struct rest_field {
    const char *key;
    const char **text;
    uint64_t *number;
    bool *truth;
};

static bool store(struct spark_rest *rest, struct json_reader *json, enum json_token token,
                  const struct rest_field *field)
{
    if (field->text != NULL && token == JSON_TEXT) {
        *field->text = arena_copy_text(&rest->arena, json->text).data;
        return *field->text != NULL;
    }
    if (field->number != NULL && token == JSON_NUMBER && json->is_integer && json->integer >= 0)
        *field->number = (uint64_t)json->integer;
    if (field->truth != NULL && (token == JSON_TRUE || token == JSON_FALSE))
        *field->truth = token == JSON_TRUE;
    return true;
}

static bool read_value(struct spark_rest *rest, struct json_reader *json, const struct rest_field *fields,
                       struct error *error);

/* An array inside an object ("attempts") is read by the same fields; its last element wins. */
static bool read_nested(struct spark_rest *rest, struct json_reader *json, const struct rest_field *fields,
                        struct error *error)
{
    enum json_token token;
    while ((token = json_reader_next(json, error)) != JSON_ARRAY_END) {
        bool good = token == JSON_OBJECT_BEGIN ? read_value(rest, json, fields, error)
                                               : token != JSON_FAILED && json_reader_skip(json, token, error);
        if (!good)
            return false;
    }
    return true;
}

static bool read_member(struct spark_rest *rest, struct json_reader *json, const struct rest_field *fields,
                        struct error *error)
{
    const struct rest_field *field = fields;
    while (field->key != NULL && !text_equal(json->text, text_of(field->key)))
        field++;
    bool is_attempts = text_equal(json->text, TEXT("attempts"));
    enum json_token token = json_reader_next(json, error);
    if (token == JSON_FAILED)
        return false;
    if (is_attempts && token == JSON_ARRAY_BEGIN)
        return read_nested(rest, json, fields, error);
    if (field->key != NULL && !store(rest, json, token, field))
        return error_set_memory(error);
    return json_reader_skip(json, token, error);
}

/* After its "{". */
static bool read_value(struct spark_rest *rest, struct json_reader *json, const struct rest_field *fields,
                       struct error *error)
{
    enum json_token token;
    while ((token = json_reader_next(json, error)) == JSON_KEY)
        if (!read_member(rest, json, fields, error))
            return false;
    return token == JSON_OBJECT_END;
}

static bool read_application(struct spark_rest *rest, struct json_reader *json, struct error *error)
{
    struct spark_application item = {.id = "", .name = "", .user = ""};
    const struct rest_field fields[] = {{"id", .text = &item.id},
                                        {"name", .text = &item.name},
                                        {"sparkUser", .text = &item.user},
                                        {"completed", .truth = &item.completed},
                                        {NULL}};
    if (!read_value(rest, json, fields, error))
        return false;
    if (!array_reserve(&rest->applications, &rest->application_capacity, rest->application_count + 1,
                       SPARK_REST_LIMIT))
        return error_set(error, ERROR_MEMORY, "too many applications");
    rest->applications[rest->application_count++] = item;
    return true;
}

static bool read_executor(struct spark_rest *rest, const char *application, struct json_reader *json,
                          struct error *error)
{
    struct spark_executor item = {.application = application, .id = "", .host = ""};
    const struct rest_field fields[] = {{"id", .text = &item.id},
                                        {"hostPort", .text = &item.host},
                                        {"isActive", .truth = &item.is_active},
                                        {"totalCores", .number = &item.cores},
                                        {"activeTasks", .number = &item.active_tasks},
                                        {"completedTasks", .number = &item.completed_tasks},
                                        {"failedTasks", .number = &item.failed_tasks},
                                        {NULL}};
    if (!read_value(rest, json, fields, error))
        return false;
    if (!array_reserve(&rest->executors, &rest->executor_capacity, rest->executor_count + 1,
                       SPARK_REST_LIMIT))
        return error_set(error, ERROR_MEMORY, "too many executors");
    rest->executors[rest->executor_count++] = item;
    return true;
}

/* A list of objects; application is NULL for a list of applications. */
static bool read_list(struct spark_rest *rest, const char *application, struct text_view text,
                      struct error *error)
{
    struct json_reader json;
    enum json_token token = JSON_FAILED;
    json_reader_init_memory(&json, text, 0, TEXT_LIMIT_BYTES);
    bool good = json_reader_expect(&json, JSON_ARRAY_BEGIN, "a list", error);
    while (good && (token = json_reader_next(&json, error)) == JSON_OBJECT_BEGIN)
        good = application == NULL ? read_application(rest, &json, error)
                                   : read_executor(rest, application, &json, error);
    if (good && token != JSON_ARRAY_END)
        good = token != JSON_FAILED && json_reader_fail(&json, error, "not a list of objects");
    json_reader_release(&json);
    return good;
}

bool spark_rest_add_applications(struct spark_rest *rest, struct text_view json, struct error *error)
{
    return read_list(rest, NULL, json, error);
}

bool spark_rest_add_executors(struct spark_rest *rest, const char *application, struct text_view json,
                              struct error *error)
{
    const char *copy = arena_copy_text(&rest->arena, text_of(application)).data;
    return copy == NULL ? error_set_memory(error) : read_list(rest, copy, json, error);
}
