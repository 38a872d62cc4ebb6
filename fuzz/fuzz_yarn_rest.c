/*
 * fuzz_yarn_rest.c - gives libFuzzer's input to what reads the ResourceManager's answer on the nodes.
 */
#include <stdlib.h>

#include "processes/yarn_rest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct yarn_rest rest;
    struct error error = {0};
    yarn_rest_init(&rest);
    if (!yarn_rest_add_nodes(&rest, (struct text_view){(const char *)data, size}, &error) &&
        error.message[0] == '\0')
        abort();
    for (size_t i = 0; i < rest.host_count; i++)
        if (rest.hosts[i] == NULL || strlen(rest.hosts[i]) > size)
            abort();
    yarn_rest_release(&rest);
    return 0;
}
