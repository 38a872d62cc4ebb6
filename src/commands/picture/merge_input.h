/*
 * merge_input.h - reads many files on all processors and sums them up, with the same result in whatever order they are
 * given and read.
 *
 * A file that cannot be read is left out whole; all of them are listed at the end with the reason.
 */
#ifndef COMMANDS_MERGE_INPUT_H
#define COMMANDS_MERGE_INPUT_H

#include <stdbool.h>

#include "commands/picture/profile_input.h"

/* As read_files of profile_input.h. */
bool merge_input_read_files(struct profile_input *input, const struct read_options *read,
                            const struct reader *format, char **paths, int path_count,
                            struct profile *profile);

#endif
