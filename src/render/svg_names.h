/*
 * svg_names.h - the user's files about functions: attributes and colours of their boxes.
 *
 * Attributes: lines "function TAB key=value TAB key=value …"; keys are id, class, title, href, target, and g_extra
 * and a_extra for more attributes of the box and its link (name="value" name="value"), none of which may run a
 * script. Colours: lines "function->rgb(r,g,b)", as flamegraph.pl keeps them in palette.map, so that several pictures
 * agree.
 *
 * Owns: copies of everything, until svg_names_release().
 * Threads: one at a time.
 * Limit: SVG_NAMES_LIMIT_BYTES of texts.
 */
#ifndef RENDER_SVG_NAMES_H
#define RENDER_SVG_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/output.h"
#include "base/string_table.h"
#include "render/palette.h"

#define SVG_NAMES_LIMIT_BYTES ((size_t)256 << 20)

/* Texts are numbers in svg_names.texts; 0: not given. */
struct svg_name {
    uint32_t id, class_name, title, href, target, group_extra, link_extra;
    struct color color;
    bool has_color;
};

struct svg_names {
    struct string_table texts;
    struct svg_name *names; /* by the number of the function's text */
    size_t capacity;
};

bool svg_names_init(struct svg_names *names, struct error *error) MUST_CHECK;
void svg_names_release(struct svg_names *names);
/* *error has the line. */
bool svg_names_read_attributes(struct svg_names *names, struct text_view text,
                               struct error *error) MUST_CHECK;
bool svg_names_read_colors(struct svg_names *names, struct text_view text, struct error *error) MUST_CHECK;
/* All colours, sorted by function. False: out of memory. */
bool svg_names_write_colors(const struct svg_names *names, struct output *output) MUST_CHECK;

/* The next name="value" of a g_extra or a_extra. False: there is none. */
bool svg_extra_next(struct text_view *rest, struct text_view *key, struct text_view *value);
/* NULL: nothing is known. */
const struct svg_name *svg_names_find(const struct svg_names *names, struct text_view function);
/* Stores the colour of a function that has none yet; does nothing if out of memory. */
void svg_names_keep_color(struct svg_names *names, struct text_view function, struct color color);

#endif
