/*
 * box_layout.h - positions of the boxes of a flame graph: left edge and width in weights, and level.
 *
 * Boxes narrower than the minimum are omitted but keep their space. Above a box, its self time comes first, then its
 * callees in the chosen order.
 *
 * Owns: its boxes, until box_layout_release().
 */
#ifndef RENDER_BOX_LAYOUT_H
#define RENDER_BOX_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "model/view.h"

enum box_order {
    ORDER_NAME,
    ORDER_WIDTH, /* widest first */
    ORDER_NODE,  /* as the nodes are numbered: time, for charts */
};

struct box {
    uint32_t node;
    uint32_t level; /* the root has 0 */
    double x;
    double width;
};

struct box_layout {
    struct box *boxes; /* callers before callees, left before right */
    size_t size;
    uint32_t deepest;
    double width; /* of the root */
};

struct box_options {
    enum box_order order;
    double least_width;
    /* With two sides: a box is as wide as the larger of both, so that removed frames are visible; else as "after". */
    bool both_sides;
};

bool box_layout_init(struct box_layout *layout, const struct view *view, const struct box_options *options,
                     struct error *error) MUST_CHECK;
void box_layout_release(struct box_layout *layout);

#endif
