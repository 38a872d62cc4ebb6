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
    uint32_t frame_number; /* + 1; 0: a free slot */
};

/* A frame of the stack at hand. */
struct folded_part {
    struct text_view text;
    struct wide_hash text_hash;
    uint64_t hash; /* of all frames from the outermost to this one */
    uint32_t frame;
};

struct folded_builder {
    struct profile *profile;
    bool needs_lines;
    struct folded_token *tokens; /* a slot for each, by hash */
    size_t token_mask;
    size_t token_count;
    /* By the hash of all frames down to a node: its number + 1, and in the high half the hash's; 0 is free. NULL:
     * others have added nodes before. */
    uint64_t *node_slots;
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
