/*
 * perf_ring.h - ring buffer of a thread's perf event: it delivers the kernel part of the stack.
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
#define PERF_RING_PAGES 2 /* one for the kernel's header, one for events */

/* NULL if the kernel refuses: locked memory is limited per user. */
void *perf_ring_map(int descriptor);
void perf_ring_unmap(void *ring);
/*
 * Consumes events since the last call: the kernel frames of the last one, leaf first, at most `limit`. *events: their
 * number, at least 1.
 */
uint32_t perf_ring_take(void *ring, frame_word *frames, uint32_t limit, uint32_t *events);
/* Called after a thread's first event: sets the regular interval. */
void perf_ring_set_period(int descriptor, uint64_t interval);

#endif
