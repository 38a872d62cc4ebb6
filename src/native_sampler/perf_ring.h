/*
 * perf_ring.h - reads records from the ring of one processor's perf events.
 *
 * Owns: the mapping and a buffer, until perf_ring_release(); not the descriptor.
 * Threads: one at a time.
 */
#ifndef NATIVE_SAMPLER_PERF_RING_H
#define NATIVE_SAMPLER_PERF_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"

/* The kernel's limit: the size in the header has 16 bits. */
#define PERF_RECORD_MOST_BYTES ((size_t)65536)

/* In the order in which they are looked at: the stack of a switch is written before its record. */
enum perf_ring_role {
    RING_OF_CHANGES,
    RING_OF_SAMPLES,
    RING_OF_SWITCHES,    /* when threads begin and stop to run */
    RING_OF_WAIT_STACKS, /* of threads that stop to run */
    RING_OF_WAKERS,      /* who made threads runnable, whosever they are */
};
#define RING_ROLE_COUNT 5

struct perf_ring {
    enum perf_ring_role role;
    void *mapping; /* NULL: not open; a page of positions, then the bytes */
    size_t mapping_bytes;
    unsigned char *bytes;
    size_t size;           /* a power of two */
    uint64_t head, tail;   /* of what perf_ring_look() saw */
    unsigned char *joined; /* a record that goes over the end of the ring */
};

/* With `size` bytes, a power of two. False: see errno. */
bool perf_ring_open(struct perf_ring *ring, int descriptor, enum perf_ring_role role, size_t size) MUST_CHECK;
void perf_ring_release(struct perf_ring *ring);
/* Notes which records are there now. */
void perf_ring_look(struct perf_ring *ring);
/* The next of these, or NULL; *size is its size. It stays valid until perf_ring_pass(). */
const unsigned char *perf_ring_next(struct perf_ring *ring, size_t *size);
/* Gives the space of the next record back to the kernel. */
void perf_ring_pass(struct perf_ring *ring, size_t size);

#endif
