/*
 * python_named_stack.h - the last stack of a thread with names and lines, so that frames that are unchanged in the next
 * one need not be named again.
 *
 * Owns: its frames, until python_named_stack_release().
 * Threads: one at a time.
 * Limit: PYTHON_MOST_FRAMES frames.
 */
#ifndef PYTHON_SAMPLER_PYTHON_NAMED_STACK_H
#define PYTHON_SAMPLER_PYTHON_NAMED_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "python_sampler/python_code_cache.h"

struct python_named_stack {
    struct python_raw_frame *raw; /* outermost first, as are frames and marks */
    struct python_frame *frames;
    uint32_t *marks;            /* one for each shown frame, for the receiver; see python_stack.h */
    struct python_frame *shown; /* frames with a function, innermost first */
    size_t count, shown_count;
    size_t raw_capacity, frame_capacity, mark_capacity, shown_capacity;
    size_t unchanged; /* number of outermost shown frames that are the same as in the previous stack */
    uint32_t epoch;   /* of the code cache */
    bool is_named;    /* frames correspond to raw */
    bool is_repeated; /* equal to the previous stack */
};

void python_named_stack_init(struct python_named_stack *stack);
void python_named_stack_release(struct python_named_stack *stack);
/* Copies and names the stack that was read, or names the same one again if `read` is NULL. False: a frame has no
 * code object, or out of memory. */
bool python_named_stack_set(struct python_named_stack *stack, struct python_code_cache *cache,
                            const struct python_reader *reader, struct python_functions *functions,
                            const struct python_stack_buffer *read, int64_t now_ns,
                            uint64_t generation) MUST_CHECK;

#endif
