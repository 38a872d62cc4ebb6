/*
 * fleet_input.h - reads the recordings of a fleet on several threads and sums them up.
 */
#ifndef COMMANDS_FLEET_INPUT_H
#define COMMANDS_FLEET_INPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/attributes.h"
#include "commands/command.h"
#include "spark/fleet/fleet_sums.h"

struct fleet_input {
    const struct command *command;
    const struct fleet_options *options;
    size_t threads;
    bool quiet;
    size_t files, broken; /* how many were read or broken, and broken */
};

/* Files that cannot be read are listed and left out. False: there is nothing to report on, and why was printed. The
 * sums are to be released in any case. */
bool fleet_input_read(struct fleet_input *input, char *const *paths, size_t count,
                      struct fleet_sums *sums) MUST_CHECK;

#endif
