/*
 * started_command.h - a program started by a command, to record it from its start.
 */
#ifndef COMMANDS_STARTED_COMMAND_H
#define COMMANDS_STARTED_COMMAND_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/attributes.h"
#include "base/error.h"

/* Called for a process that is about to become the program. */
struct exec_watch {
    void (*before_exec)(void *context, pid_t pid); /* NULL: nobody is called */
    void *context;
};

/* Starts argv (ended by NULL) with our own input and outputs, and returns when the program runs. */
bool started_command_start(pid_t *pid, char *const *argv, const struct exec_watch *watch,
                           struct error *error) MUST_CHECK;
/* Waits for its end; its exit code, or 128 + the signal that ended it, as in shells. */
int started_command_wait(pid_t pid);

#endif
