#include "processes/yarn_rest.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "input/json_reader.h"

enum { ARENA_LIMIT_BYTES = 64 << 20, TEXT_LIMIT_BYTES = 1 << 20 };

void yarn_rest_init(struct yarn_rest *rest)
{
    *rest = (struct yarn_rest){.hosts = NULL};
    arena_init(&rest->arena, ARENA_LIMIT_BYTES);
}

void yarn_rest_release(struct yarn_rest *rest)
{
    free(rest->hosts);
    arena_release(&rest->arena);
    yarn_rest_init(rest);
}

static bool read_text(struct yarn_rest *rest, struct json_reader *json, const char **text,
                      struct error *error)
{
    enum json_token token = json_reader_next(json, error);
    if (token == JSON_TEXT) {
        *text = arena_copy_text(&rest->arena, json->text).data;
        return *text != NULL || error_set_memory(error);
    }
    return token != JSON_FAILED && json_reader_skip(json, token, error);
}

/* After its "{". */
static bool read_node(struct yarn_rest *rest, struct json_reader *json, struct error *error)
{
    const char *host = NULL, *state = "RUNNING";
    enum json_token token;
    while ((token = json_reader_next(json, error)) == JSON_KEY) {
        bool is_host = text_equal(json->text, TEXT("nodeHostName"));
        bool is_state = text_equal(json->text, TEXT("state"));
        bool good = is_host    ? read_text(rest, json, &host, error)
                    : is_state ? read_text(rest, json, &state, error)
                               : json_reader_skip_next(json, error);
        if (!good)
            return false;
    }
    if (token != JSON_OBJECT_END)
        return false;
    if (host == NULL || strcmp(state, "RUNNING") != 0)
        return true;
    if (!array_reserve(&rest->hosts, &rest->host_capacity, rest->host_count + 1, YARN_REST_LIMIT))
        return error_set(error, ERROR_MEMORY, "too many nodes");
    rest->hosts[rest->host_count++] = host;
    return true;
}

/* {"node":[…]}, after its "{". */
static bool read_nodes(struct yarn_rest *rest, struct json_reader *json, struct error *error)
{
    enum json_token token;
    while ((token = json_reader_next(json, error)) == JSON_KEY) {
        bool is_list = text_equal(json->text, TEXT("node"));
        token = json_reader_next(json, error);
        bool good = token != JSON_FAILED;
        if (good && !(is_list && token == JSON_ARRAY_BEGIN)) {
            good = json_reader_skip(json, token, error);
        } else if (good) {
            while (good && (token = json_reader_next(json, error)) == JSON_OBJECT_BEGIN)
                good = read_node(rest, json, error);
            if (good && token != JSON_ARRAY_END)
                good = token != JSON_FAILED && json_reader_fail(json, error, "not a list of nodes");
        }
        if (!good)
            return false;
    }
    return token == JSON_OBJECT_END;
}

bool yarn_rest_add_nodes(struct yarn_rest *rest, struct text_view text, struct error *error)
{
    struct json_reader json;
    enum json_token token = JSON_FAILED;
    bool has_nodes = false;
    json_reader_init_memory(&json, text, 0, TEXT_LIMIT_BYTES);
    bool good = json_reader_expect(&json, JSON_OBJECT_BEGIN, "an object", error);
    while (good && (token = json_reader_next(&json, error)) == JSON_KEY) {
        bool is_nodes = text_equal(json.text, TEXT("nodes"));
        has_nodes = has_nodes || is_nodes;
        token = json_reader_next(&json, error);
        good = token != JSON_FAILED &&
               (is_nodes && token == JSON_OBJECT_BEGIN ? read_nodes(rest, &json, error)
                                                       : json_reader_skip(&json, token, error));
    }
    if (good && !(token == JSON_OBJECT_END && has_nodes))
        good = token != JSON_FAILED && json_reader_fail(&json, error, "no list of nodes");
    json_reader_release(&json);
    return good;
}
