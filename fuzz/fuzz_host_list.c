/*
 * fuzz_host_list.c - gives libFuzzer's input to the reader of lists of hosts, and its names to what
 * makes ssh's command.
 */
#include <stdlib.h>
#include <string.h>

#include "commands/record/host_list.h"
#include "commands/record/remote_command.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The name is one word behind all options. */
static void check_name(const char *name)
{
    const struct remote_command command = {.ssh = "ssh", .arguments = "record"};
    char *words[REMOTE_WORD_LIMIT];
    struct text_builder text;
    struct error error = {0};
    size_t count = 0;
    text_builder_init(&text, 65536);
    if (name[0] == '-' || !remote_command_make(&command, name, &text, words, &error))
        abort();
    while (words[count] != NULL)
        count++;
    if (count < 4 || strcmp(words[count - 2], name) != 0 || strcmp(words[count - 3], "--") != 0)
        abort();
    text_builder_release(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct host_list list;
    struct error error = {0};
    host_list_init(&list);
    if (host_list_parse(&list, (struct text_view){(const char *)data, size}, &error)) {
        if (list.count == 0)
            abort();
    } else if (error.message[0] == '\0') {
        abort();
    }
    for (size_t i = 0; i < list.count; i++)
        check_name(list.names[i]);
    host_list_release(&list);
    return 0;
}
