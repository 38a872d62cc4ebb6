/*
 * native_walk.h - walks the copied stack of a sample by the rules of the files' code, or by frame pointers where there
 * are none.
 *
 * Threads: one at a time.
 */
#ifndef NATIVE_SAMPLER_NATIVE_WALK_H
#define NATIVE_SAMPLER_NATIVE_WALK_H

#include <stddef.h>
#include <stdint.h>

#include "native_sampler/process_image.h"

#define NATIVE_WALK_MOST_FRAMES 1024

enum native_walk_end {
    WALK_COMPLETE, /* up to the start of the thread */
    WALK_CUT,      /* up to the end of the copy */
    WALK_BROKEN,   /* code without rule and frame pointer */
};

struct native_walk {
    uint64_t addresses[NATIVE_WALK_MOST_FRAMES]; /* innermost first; of calls, not behind them */
    size_t count;
    enum native_walk_end end;
};

void native_walk(struct native_walk *walk, struct process_image *image, struct program_files *files,
                 const struct perf_sample_stack *stack, int64_t now_ns);

#endif
