#include "commands/processes/process_choice.h"

#include <stdio.h>
#include <string.h>

#include "processes/process_list.h"

static bool choose_from(const struct process_list *list, const char *text, pid_t *pid, struct error *error)
{
    char found[512] = "";
    size_t count = 0, length = 0;
    for (size_t i = 0; i < list->count; i++) {
        if (!process_matches(&list->processes[i], text))
            continue;
        *pid = list->processes[i].pid;
        if (count++ < 16)
            length += (size_t)snprintf(found + length, sizeof(found) - length, " %d", (int)*pid);
    }
    if (count == 0)
        return error_set(error, ERROR_BAD_INPUT, "no process \"%s\": see \"sparkflame list\"", text);
    if (count > 1)
        return error_set(error, ERROR_BAD_INPUT, "\"%s\" matches %zu processes, choose one:%s%s", text, count,
                         found, count > 16 ? " …" : "");
    return true;
}

bool process_choose(const char *text, pid_t *pid, struct error *error)
{
    uint64_t number;
    struct process_list list;
    if (text_to_u64(text_of(text), &number)) {
        if (number == 0 || number > INT32_MAX)
            return error_set(error, ERROR_USAGE, "%s is not a process id", text);
        *pid = (pid_t)number;
        return true;
    }
    process_list_init(&list);
    bool good = process_list_read(&list, "/proc", error) && choose_from(&list, text, pid, error);
    process_list_release(&list);
    return good;
}
