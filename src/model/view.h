/*
 * view.h - a profile for drawing: a tree of boxes with self and total weights.
 *
 * Frames with the same text in the chosen style are one box below the same caller. With two sides each box has two
 * weights: before and after.
 *
 * Owns: its arrays, until view_release(). Borrows the profile.
 * Threads: one at a time to build, any number to read.
 */
#ifndef MODEL_VIEW_H
#define MODEL_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/string_table.h"
#include "model/frame_name.h"
#include "model/profile.h"
#include "model/stack_tree.h"
#include "model/weight.h"

struct view_options {
    struct name_style names;
    enum weight weight;
    /* One event, or "before" and "after"; numbers of the profile. */
    uint32_t events[2];
    size_t sides;          /* 1 or 2 */
    bool keep_kinds_apart; /* foo_[j] and foo_[i] are two boxes */
    bool join_kinds;       /* boxes by their text alone, whatever the kind */
};

struct view_frame {
    uint32_t name;  /* number in view.names */
    uint32_t kind;  /* of its first frame */
    uint32_t frame; /* its first frame in the profile */
};

struct view {
    const struct profile *profile;
    const struct string_table *names;
    struct string_table own_names;
    struct view_frame *frames;
    size_t frame_count;
    const struct stack_node *nodes; /* node.frame is an index in `frames`; unused for the root */
    size_t size;
    struct stack_tree own_tree;
    bool owns_names;
    bool owns_tree;
    size_t sides;
    bool keeps_kinds_apart;
    double *totals[2]; /* of each node, callees included */
    double *selfs[2];
};

bool view_init(struct view *view, const struct profile *profile, const struct view_options *options,
               struct error *error) MUST_CHECK;
void view_release(struct view *view);

static inline struct text_view view_name(const struct view *view, uint32_t node)
{
    return string_table_text(view->names, view->frames[view->nodes[node].frame].name);
}

#endif
