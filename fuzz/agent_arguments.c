/*
 * agent_arguments.c - gives libFuzzer's input to what reads the agent's argument string, and the file name in it.
 */
#include <stdlib.h>
#include <string.h>

#include "jvm_agent/arguments.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arguments arguments = {0};
    struct error error = {0};
    char path[128];
    char *text = malloc(size + 1);
    if (text == NULL)
        abort();
    memcpy(text, data, size);
    text[size] = '\0';
    if (arguments_parse(&arguments, text, &error)) {
        (void)arguments_format(&arguments);
        if (arguments.file != NULL && arguments_expand_file(arguments.file, 7, path, sizeof(path)) &&
            strlen(path) >= sizeof(path))
            abort();
    } else if (error.message[0] == '\0') {
        abort();
    }
    arguments_release(&arguments);
    free(text);
    return 0;
}
