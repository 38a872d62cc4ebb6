/*
 * stack_walk.h - moves from one stack of a profile to another and reports what changes, whether the stacks are in the
 * tree or only listed. In an order in which neighbours share their callers, each frame is visited once for all stacks
 * that share it.
 *
 * Owns: the frames of the current stack, until stack_walk_release(). Borrows the profile.
 * Threads: one at a time.
 */
#ifndef MODEL_STACK_WALK_H
#define MODEL_STACK_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "model/profile.h"

/* Of a path; longer ones are read on demand. */
#define STACK_WALK_PREFETCH_BYTES ((size_t)192)

struct stack_walk {
    const struct profile *profile;
    /* Of each frame of the current stack, outermost first: its node, or where its code ends in the path's bytes. */
    uint32_t *marks;
    size_t depth;
    size_t mark_capacity;
    uint32_t path; /* the current listed path; NO_STACK */
    uint32_t *frames;
    size_t frame_capacity;
};

/* From the stack before to this one. */
struct stack_step {
    size_t kept;            /* its outermost frames that both have */
    const uint32_t *frames; /* those that follow, outermost first; until the next step */
    size_t count;
};

void stack_walk_init(struct stack_walk *walk, const struct profile *profile);
void stack_walk_release(struct stack_walk *walk);
/* False: out of memory. */
bool stack_walk_go(struct stack_walk *walk, uint32_t stack, struct stack_step *step) MUST_CHECK;
/* Three prefetches for moving to a stack, to be called in turn, some steps apart. */
PREFETCHING void stack_walk_prefetch_stack(const struct stack_walk *walk, uint32_t stack)
{
    if (walk->profile->listed != NULL)
        __builtin_prefetch(&walk->profile->listed->stacks[stack]);
    else
        __builtin_prefetch(&walk->profile->stacks.nodes[stack]);
}

static inline const struct listed_stack *stack_walk_path(const struct stack_walk *walk, uint32_t stack)
{
    const struct listed_stack *stacks = walk->profile->listed->stacks, *path = &stacks[stack];
    return path->size == STACK_LIST_LEAF ? &stacks[path->leaf.path] : path;
}

PREFETCHING void stack_walk_prefetch_path(const struct stack_walk *walk, uint32_t stack)
{
    if (walk->profile->listed != NULL)
        __builtin_prefetch(stack_walk_path(walk, stack));
}

PREFETCHING void stack_walk_prefetch_frames(const struct stack_walk *walk, uint32_t stack)
{
    if (walk->profile->listed == NULL)
        return;
    const struct listed_stack *path = stack_walk_path(walk, stack);
    for (size_t at = 0; at < path->size && at < STACK_WALK_PREFETCH_BYTES; at += CACHE_LINE_BYTES)
        __builtin_prefetch(path->bytes + at);
}

#endif
