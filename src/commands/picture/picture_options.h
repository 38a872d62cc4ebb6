/*
 * picture_options.h - the options of pictures: where to write, in which format, and how it looks.
 *
 * Owns: nothing; texts are the caller's, as options.h has them.
 */
#ifndef COMMANDS_PICTURE_OPTIONS_H
#define COMMANDS_PICTURE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "commands/options.h"

struct picture_options {
    const char *output;
    const char *format;
    const char *table;
    const char *title, *subtitle, *notes;
    const char *hosts; /* of the page, see render/page_input.h; no option */
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
    uint64_t max_nodes;
};

extern const struct option picture_file_options[];
extern const struct option picture_table_options[];
extern const struct option picture_look_options[];
/* The names of all formats, for the help text. */
const char *picture_format_help(void);

void picture_options_init(struct picture_options *options);

#endif
