/*
 * picture_names.h - the files about functions that a picture uses: --nameattr and the palette.map of --cp.
 */
#ifndef COMMANDS_PICTURE_NAMES_H
#define COMMANDS_PICTURE_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "commands/picture/picture_options.h"
#include "render/svg_names.h"

/* Reads what the options ask for, nothing without them; to be released if true. */
bool picture_names_read(struct svg_names *names, const struct picture_options *options,
                        struct error *error) MUST_CHECK;
/* Writes palette.map back, if --cp was given. */
bool picture_names_write(const struct svg_names *names, const struct picture_options *options,
                         struct error *error) MUST_CHECK;
/* A random number, not 0. */
uint64_t picture_names_seed(void);

#endif
