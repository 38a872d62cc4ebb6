/*
 * store_rollup.h - makes the roll-up of a range of a collector's recordings.
 */
#ifndef COMMANDS_STORE_ROLLUP_H
#define COMMANDS_STORE_ROLLUP_H

#include <stdbool.h>

#include "base/attributes.h"
#include "base/error.h"

/* Writes it as a file. The range is "LEVEL:FIRST-LAST", by numbers of recordings. */
bool store_rollup_write(const char *folder, const char *group, const char *range, const char *path,
                        struct error *error) MUST_CHECK;

#endif
