/*
 * folded_build.h - from the texts of stacks, "outer;…;inner", to their nodes in a profile's tree.
 *
 * Stacks are listed (model/stack_list.h) and placed in the tree all at once: where most of them are different, looking
 * up each of their nodes in a table would cost more than everything else.
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
#include "input/text_hash.h"
#include "model/profile.h"
#include "model/stack_list.h"

/* A known text of a frame, by its hash, and its frame. */
struct folded_token {
    struct wide_hash hash;
    uint32_t frame_number; /* + 1; 0: a free slot */
};

/* A frame of the stack at hand. */
struct folded_part {
    struct text_view text;
    struct wide_hash text_hash;
    uint32_t frame;
};

struct folded_builder {
    struct profile *profile;
    bool needs_lines;
    struct stack_list list;
    struct folded_token *tokens; /* a slot for each, by hash */
    size_t token_mask;
    size_t token_count;
    struct folded_part *parts; /* of the stack at hand */
    size_t part_count;
    size_t part_capacity;
    uint8_t *codes; /* of its frames, at the end */
    size_t code_capacity;
    bool is_cut; /* it is too deep */
    uint64_t cut_stacks;
};

bool folded_builder_init(struct folded_builder *builder, struct profile *profile,
                         bool needs_lines) MUST_CHECK;
void folded_builder_release(struct folded_builder *builder);
/* The stack's number, from 0 on; a stack should be added once. NO_STACK: out of memory. */
uint32_t folded_builder_add(struct folded_builder *builder, struct text_view stack) MUST_CHECK;
/* Adds all stacks to the profile's tree. Returns the node of each, which the caller frees. NULL: out of memory. Nothing
 * can be added afterwards. */
uint32_t *folded_builder_place(struct folded_builder *builder) MUST_CHECK;

#endif
