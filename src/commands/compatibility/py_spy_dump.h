/*
 * py_spy_dump.h - the stacks of a process once, in the text and the JSON that py-spy prints.
 */
#ifndef COMMANDS_PY_SPY_DUMP_H
#define COMMANDS_PY_SPY_DUMP_H

#include <stdbool.h>
#include <sys/types.h>

#include "commands/command.h"

struct py_spy_dump {
    const struct command *command;
    pid_t pid;
    bool as_json;
    bool full_file_names;
    bool subprocesses;
};

/* The exit code. */
int py_spy_dump_run(const struct py_spy_dump *dump);

#endif
