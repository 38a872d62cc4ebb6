/*
 * process_choice.h - the process a person means by a number, a main class or a Spark role.
 */
#ifndef COMMANDS_PROCESS_CHOICE_H
#define COMMANDS_PROCESS_CHOICE_H

#include <sys/types.h>

#include "base/error.h"

/* Exactly one process of this machine must fit; several are named in the error. */
bool process_choose(const char *text, pid_t *pid, struct error *error) MUST_CHECK;

#endif
