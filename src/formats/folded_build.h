/*
 * folded_build.h - from the text of a stack, "outer;…;inner", to its node in a profile's tree.
 *
 * Owns: its lists, until folded_builder_release(); the profile is the caller's.
 * Threads: one at a time.
 * Limit: READER_DEPTH_LIMIT frames; deeper stacks are cut, and counted.
 */
#ifndef FORMATS_FOLDED_BUILD_H
#define FORMATS_FOLDED_BUILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/text_view.h"
#include "formats/text_hash.h"
#include "model/profile.h"

/* A frame's text that was met, by its hash, and the frame that it means. */
struct folded_token {
    struct wide_hash hash;
    uint32_t frame;
};

/* A part of a stack, from its outermost frame on. */
struct folded_part {
    uint64_t hash;
    uint32_t frame; /* its innermost */
};

struct folded_builder {
    struct profile *profile;
    bool needs_lines;
    /* Tables of numbers + 1, by hash; in the high half is the hash's own; 0 is free. */
    uint64_t *token_slots;
    size_t token_mask;
    struct folded_token *tokens;
    size_t token_count;
    size_t token_capacity;
    uint64_t
        *node_slots; /* by the hash of all frames down to the node; NULL: others have added nodes before */
    size_t node_mask;
    struct folded_part *parts; /* of the stack at hand */
    size_t part_count;
    size_t part_capacity;
    bool is_cut; /* it is too deep */
    uint64_t cut_stacks;
};

bool folded_builder_init(struct folded_builder *builder, struct profile *profile,
                         bool needs_lines) MUST_CHECK;
void folded_builder_release(struct folded_builder *builder);
/* NO_STACK: out of memory. */
uint32_t folded_builder_add(struct folded_builder *builder, struct text_view stack) MUST_CHECK;

#endif
