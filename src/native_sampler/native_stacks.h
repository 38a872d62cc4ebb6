/*
 * native_stacks.h - stacks and labels of a profile for the threads of sampled processes: user frames walked from copies
 * of their stacks, kernel frames, and if wanted process and thread as outermost frames.
 *
 * Owns: what is known of processes, files and names, until native_stacks_release(); the profile is the caller's.
 * Threads: one at a time.
 */
#ifndef NATIVE_SAMPLER_NATIVE_STACKS_H
#define NATIVE_SAMPLER_NATIVE_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/attributes.h"
#include "base/id_map.h"
#include "model/profile.h"
#include "native_sampler/native_names.h"
#include "native_sampler/native_walk.h"
#include "native_sampler/process_table.h"

#define NATIVE_STACKS_KERNEL_FRAMES 128 /* kernel.perf_event_max_stack is 127 */

struct native_stacks {
    struct profile *profile;
    bool group_by_thread;  /* the thread as outermost frame */
    bool group_by_process; /* the process as outermost frame */
    struct process_table table;
    struct native_names names;
    struct id_map contexts; /* by hash of process, thread, its name, state and waker */
    struct native_walk walk;
    uint32_t frames[NATIVE_STACKS_KERNEL_FRAMES + NATIVE_WALK_MOST_FRAMES]; /* innermost first */
    size_t frame_count;
    uint64_t cut;    /* stacks larger than their copy */
    uint64_t broken; /* stacks with code that has neither rule nor frame pointer */
};

void native_stacks_init(struct native_stacks *stacks, struct profile *profile);
void native_stacks_release(struct native_stacks *stacks);
/* The node of the innermost frame. NO_STACK: out of memory. */
uint32_t native_stacks_add(struct native_stacks *stacks, struct process_image *image, pid_t tid,
                           const struct perf_sample_stack *stack, int64_t now_ns) MUST_CHECK;
/* A stack of one frame, inside of process and thread. NO_STACK: out of memory. */
uint32_t native_stacks_add_only(struct native_stacks *stacks, pid_t pid, pid_t tid,
                                struct text_view frame) MUST_CHECK;
/* Labels: process, thread, state and, unless it is 0, waker (a string). NO_CONTEXT: out of memory. */
uint32_t native_stacks_context(struct native_stacks *stacks, pid_t pid, pid_t tid, struct text_view state,
                               uint32_t waker) MUST_CHECK;

#endif
