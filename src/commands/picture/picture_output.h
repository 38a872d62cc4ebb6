/*
 * picture_output.h - options of pictures, and writing a profile as a picture or in a file format.
 */
#ifndef COMMANDS_PICTURE_OUTPUT_H
#define COMMANDS_PICTURE_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attributes.h"
#include "commands/picture/picture_options.h"
#include "commands/picture/profile_input.h"
#include "formats/packed_output.h"
#include "formats/writer.h"
#include "render/svg_writer.h"

enum picture_kind {
    PICTURE_SVG,
    PICTURE_HTML,
    PICTURE_FILE, /* a file format: `writer` */
};

struct picture_target {
    enum picture_kind kind;
    const struct writer *writer;
    const char *path;
};

/* Chooses by --format, by the file's extension, else `fallback` for standard output. False: prints the error. */
bool picture_target_choose(struct picture_target *target, const struct command *command,
                           const struct picture_options *options, const char *fallback) MUST_CHECK;
/* The same, and checks that the output can be written, before long work. Returns the exit code: EXIT_GOOD if it can. */
int picture_target_prepare(struct picture_target *target, const struct command *command,
                           const struct picture_options *options, const char *fallback) MUST_CHECK;
struct profile_needs picture_needs(const struct picture_target *target,
                                   const struct picture_options *options);
/* Opens the target's file, compressed if its name ends in ".gz". */
bool picture_open(const struct picture_target *target, struct packed_output *packed,
                  struct error *error) MUST_CHECK;
/* Writes; returns the exit code. `before` is NULL, or the other side of a comparison (then names distinguish them). */
int picture_write(const struct picture_target *target, const struct picture_options *options,
                  struct profile_input *input, struct profile_input *before, const char *const names[2]);

#endif
