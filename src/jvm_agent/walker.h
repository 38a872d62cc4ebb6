/*
 * walker.h - walks a thread's stack, Java and native, from within a signal handler.
 *
 * Never blocks, allocates only from the method table's arena, and survives memory that vanishes under it: every read
 * happens under a fault point.
 *
 * Threads: any; walks only the calling thread.
 */
#ifndef JVM_AGENT_WALKER_H
#define JVM_AGENT_WALKER_H

#include <stdbool.h>
#include <stdint.h>

#include "jvm_agent/frame.h"
#include "jvm_agent/method_table.h"
#include "jvm_agent/place_cache.h"
#include "jvm_agent/thread_table.h"

struct walk_request {
    struct thread_record *record; /* of the calling thread */
    struct method_table *methods;
    struct place_cache *places;
    const void *context; /* the handler's ucontext_t; NULL: begin at the last Java frame */
    uint32_t depth_limit;
    bool native_frames; /* also those of libraries */
    bool mixed;         /* and those between and below the Java frames */
    bool native_only;   /* ends at the first Java frame */
};

/* Fills frames, leaf first, and returns how many. *waiting: the thread was in a system call. */
uint32_t walker_walk(const struct walk_request *request, frame_word *frames, bool *waiting);

#endif
