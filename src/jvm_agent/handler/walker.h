/*
 * walker.h - walks a thread's stack, Java and native, in a signal handler.
 *
 * Never blocks, allocates only from the method table's arena, and survives memory that is unmapped meanwhile: every
 * read happens under a fault point.
 *
 * Threads: any; walks only the calling thread.
 */
#ifndef JVM_AGENT_WALKER_H
#define JVM_AGENT_WALKER_H

#include <stdbool.h>
#include <stdint.h>

#include "jvm_agent/frame.h"
#include "jvm_agent/handler/place_cache.h"
#include "jvm_agent/thread_table.h"
#include "jvm_agent/vm/method_table.h"

struct walk_request {
    struct thread_record *record; /* of the calling thread */
    struct method_table *methods;
    struct place_cache *places;
    const void *context; /* the handler's ucontext_t; NULL: start at the last Java frame */
    uint32_t depth_limit;
    bool native_frames; /* include native frames */
    bool mixed;         /* also those between and outside of Java frames */
    bool native_only;   /* stop at the first Java frame */
};

/* Fills frames, leaf first, and returns their number. *waiting: the thread was in a system call. */
uint32_t walker_walk(const struct walk_request *request, frame_word *frames, bool *waiting);

#endif
