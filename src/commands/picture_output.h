/*
 * picture_output.h - options of pictures, and writing a profile as a picture or in a file format.
 */
#ifndef COMMANDS_PICTURE_OUTPUT_H
#define COMMANDS_PICTURE_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attributes.h"
#include "commands/profile_input.h"
#include "formats/packed_output.h"
#include "formats/writer.h"
#include "render/svg_writer.h"

struct picture_options {
    const char *output;
    const char *format;
    const char *title, *subtitle, *notes;
    const char *count_name, *name_type;
    const char *font_type;
    double font_size, font_width;
    uint64_t width, height;
    const char *least_width;
    int colors;
    const char *background;
    const char *name_attributes;
    const char *encoding;
    bool random, keeps_palette;
    int order; /* enum box_order: name, width */
    double total, factor;
    bool inverted, chart, negate, hash, without_script;
    const char *view;
};

extern const struct option picture_file_options[];
extern const struct option picture_look_options[];

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

void picture_options_init(struct picture_options *options);
/* Chooses by --format, by the file's ending, else `fallback` for standard output. Prints what is wrong; false then. */
bool picture_target_choose(struct picture_target *target, const struct command *command,
                           const struct picture_options *options, const char *fallback) MUST_CHECK;
/* The same, and looks that the place can be written: before long work. The exit code: EXIT_GOOD if it can. */
int picture_target_prepare(struct picture_target *target, const struct command *command,
                           const struct picture_options *options, const char *fallback) MUST_CHECK;
struct profile_needs picture_needs(const struct picture_target *target,
                                   const struct picture_options *options);
/* Opens the target's file, packed if its name says so. */
bool picture_open(const struct picture_target *target, struct packed_output *packed,
                  struct error *error) MUST_CHECK;
/* Writes; the exit code. `before` is NULL, or the other side of a comparison (then names tell them apart). */
int picture_write(const struct picture_target *target, const struct picture_options *options,
                  struct profile_input *input, struct profile_input *before, const char *const names[2]);

#endif
