/*
 * host_comparison.h - how similar the hosts of a profile are, and which of them differ from the others.
 */
#ifndef COMMANDS_HOST_COMPARISON_H
#define COMMANDS_HOST_COMPARISON_H

#include <stdbool.h>
#include <stddef.h>

#include "base/attributes.h"
#include "commands/command.h"
#include "model/profile.h"

/* Prints it, of the event that pictures show. Samples have the label "host" and times. False: out of memory. */
bool host_comparison_print(const struct command *command, const struct profile *profile,
                           const char *const *names, size_t count) MUST_CHECK;

#endif
