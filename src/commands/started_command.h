/*
 * started_command.h - a program that a command of ours starts, to record it from its begin.
 */
#ifndef COMMANDS_STARTED_COMMAND_H
#define COMMANDS_STARTED_COMMAND_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/attributes.h"
#include "base/error.h"

/* Starts argv (ended by NULL) with our own input and outputs, and returns when the program runs. */
bool started_command_start(pid_t *pid, char *const *argv, struct error *error) MUST_CHECK;
/* Waits for its end; its exit code, 128 + the signal for one that a signal ended, as shells have it. */
int started_command_wait(pid_t pid);

#endif
