/*
 * perf_ring.h - what the kernel tells about a perf event of one thread: its own part of the stack.
 *
 * Owns: the mapping, from perf_ring_map() to perf_ring_unmap().
 * Threads: perf_ring_take() in the thread's signal handler only.
 */
#ifndef JVM_AGENT_PERF_RING_H
#define JVM_AGENT_PERF_RING_H

#include <stddef.h>
#include <stdint.h>

#include "jvm_agent/frame.h"

#define PERF_PAGE_BYTES ((size_t)4096)
#define PERF_RING_PAGES 2 /* one for the kernel's numbers, one for events */

/* NULL when the kernel refuses: there is a limit of locked memory per user. */
void *perf_ring_map(int descriptor);
void perf_ring_unmap(void *ring);
/*
 * Takes what has come since the last time: the kernel's frames of the last event, leaf first, at most `limit`.
 * *events: how many there were, at least 1.
 */
uint32_t perf_ring_take(void *ring, frame_word *frames, uint32_t limit, uint32_t *events);
/* After a thread's first event: from now on the true interval. */
void perf_ring_set_period(int descriptor, uint64_t interval);

#endif
