#include "commands/record/yarn_hosts.h"

#include <stdio.h>
#include <string.h>

#include "base/text_builder.h"
#include "commands/processes/http_get.h"
#include "processes/yarn_rest.h"

#define ANSWER_LIMIT_BYTES ((size_t)256 << 20)

static bool add_hosts(struct host_list *list, const struct yarn_rest *rest, struct error *error)
{
    for (size_t i = 0; i < rest->host_count; i++) {
        struct text_view name = text_of(rest->hosts[i]);
        if (host_list_has(list, name))
            continue;
        if (text_find_byte(name, '@') != TEXT_NOT_FOUND)
            return error_set(error, ERROR_BAD_INPUT, "a node's name has a user");
        if (!host_list_add(list, name, error)) {
            error->code = ERROR_BAD_INPUT;
            return false;
        }
    }
    return list->count > 0 || error_set(error, ERROR_BAD_INPUT, "no node runs");
}

bool yarn_hosts_read(struct host_list *list, const char *address, struct error *error)
{
    char whole[4096];
    struct text_builder body;
    struct yarn_rest rest;
    size_t length = strlen(address);
    while (length > 0 && address[length - 1] == '/')
        length--;
    int size =
        snprintf(whole, sizeof(whole), "%.*s/ws/v1/cluster/nodes?states=RUNNING", (int)length, address);
    if (size < 0 || (size_t)size >= sizeof(whole))
        return error_set(error, ERROR_USAGE, "--yarn: the address is too long");
    text_builder_init(&body, ANSWER_LIMIT_BYTES);
    yarn_rest_init(&rest);
    bool good = http_get(whole, &body, error) &&
                yarn_rest_add_nodes(&rest, text_builder_view(&body), error) && add_hosts(list, &rest, error);
    if (!good)
        error_prefix(error, "--yarn %s", address);
    yarn_rest_release(&rest);
    text_builder_release(&body);
    return good;
}
