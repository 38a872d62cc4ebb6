/*
 * svg_writer.h - writes a flame graph, icicle graph or flame chart as one SVG file with its own script.
 *
 * Boxes have fg:x and fg:w, their position in weights, as in other tools' pictures. If scripts are forbidden, the
 * picture is static, with titles as tooltips.
 *
 * Owns: nothing.
 */
#ifndef RENDER_SVG_WRITER_H
#define RENDER_SVG_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/output.h"
#include "model/view.h"
#include "render/box_layout.h"
#include "render/svg_names.h"

struct svg_options {
    const char *title;      /* NULL: "Flame Graph", "Icicle Graph", "Flame Chart" or "Difference" */
    const char *subtitle;   /* NULL: none */
    const char *notes;      /* kept as a comment-like description; NULL */
    const char *count_name; /* "samples" */
    const char *name_type;  /* "Function:" */
    const char *font_type;
    double font_size;
    double font_width; /* of a letter, in font sizes */
    uint64_t width;    /* pixels; 0: as wide as the window */
    uint64_t frame_height;
    double least_width; /* pixels; percent when least_width_is_share */
    bool least_width_is_share;
    double factor;           /* shown numbers are weights × factor */
    double total;            /* 0: the sum; larger: the root is that wide */
    int palette;             /* index in PALETTE_NAMES */
    uint64_t color_seed;     /* 0: the usual shades */
    struct svg_names *names; /* attributes and colours of functions; NULL */
    bool keep_colors;        /* colours given are noted in `names` */
    const char *background;  /* "#rrggbb", or yellow, blue, green, grey; NULL: by palette */
    enum box_order order;
    bool inverted;   /* root on top */
    bool chart;      /* title of a flame chart */
    bool negate;     /* difference hues swapped */
    bool both_sides; /* see box_options */
    bool without_script;
};

void svg_options_init(struct svg_options *options);
bool svg_write(const struct view *view, const struct svg_options *options, struct output *output,
               struct error *error) MUST_CHECK;

#endif
