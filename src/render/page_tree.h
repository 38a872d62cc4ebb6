/*
 * page_tree.h - the part of a profile's stack tree that samples use, in preorder, and its frames by frequency.
 *
 * Owns: its arrays, until page_tree_release(). It needs 13 bytes per stack node.
 * Threads: one at a time.
 */
#ifndef RENDER_PAGE_TREE_H
#define RENDER_PAGE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/text_builder.h"
#include "model/profile.h"

struct page_tree {
    uint32_t *
        number; /* of each stack node: its place in preorder, the root 0; UINT32_MAX when no sample uses it */
    size_t node_count; /* used ones, the root included */
    uint32_t *frames;  /* used frames, the most frequent first */
    size_t frame_count;
    uint32_t *frame_number; /* of each frame: its place in `frames` */
};

/* Also appends the part "nodes" of the data. */
bool page_tree_init(struct page_tree *tree, const struct profile *profile, struct text_builder *nodes,
                    struct error *error) MUST_CHECK;
void page_tree_release(struct page_tree *tree);

#endif
