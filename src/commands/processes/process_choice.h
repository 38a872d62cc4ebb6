/*
 * process_choice.h - finds the process with a PID, a main class or a Spark role.
 */
#ifndef COMMANDS_PROCESS_CHOICE_H
#define COMMANDS_PROCESS_CHOICE_H

#include <sys/types.h>

#include "base/error.h"

/* Exactly one process of this machine must match; the error lists several. */
bool process_choose(const char *text, pid_t *pid, struct error *error) MUST_CHECK;

#endif
