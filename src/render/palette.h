/*
 * palette.h - colours of boxes: the schemes that flamegraph.pl's users know, chosen by name so that a function keeps
 * its colour from picture to picture.
 */
#ifndef RENDER_PALETTE_H
#define RENDER_PALETTE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text_view.h"
#include "model/frame_table.h"

struct color {
    uint8_t red;
    uint8_t green;
    uint8_t blue;
};

/* Blank-separated names, as an option's choices. */
#define PALETTE_NAMES \
    "hot mem io wakeup chain java js perl python rust red green blue aqua yellow purple orange kind"

/* `palette` is an index in PALETTE_NAMES. Another seed gives other shades, the same one always the same. */
struct color palette_color(int palette, uint64_t seed, struct text_view name, enum frame_kind kind);
/* From blue (less) over grey to red (more); share is -1 to 1. */
struct color palette_difference(double share, bool negate);
/* Two background colours, top and bottom, that suit the palette. */
void palette_background(int palette, struct color background[2]);

#endif
