/*
 * memory_batch.h - pieces of another process's memory that one call to the kernel fetches, in the order in which they
 * were added.
 *
 * Owns: the room for ranges and bytes, until memory_batch_release(); it is used again after memory_batch_clear().
 * Threads: one at a time.
 * Limit: MEMORY_RANGE_LIMIT ranges, MEMORY_BATCH_MOST_BYTES bytes.
 */
#ifndef PYTHON_SAMPLER_MEMORY_BATCH_H
#define PYTHON_SAMPLER_MEMORY_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "python_sampler/process_memory.h"
#include "python_sampler/span_set.h"

#define MEMORY_BATCH_MOST_BYTES ((size_t)16 << 20)

struct memory_batch {
    struct iovec *ranges;
    size_t count;
    unsigned char *bytes;
    size_t capacity;
    size_t total_bytes;
    int64_t read_ns; /* how long the last read took */
};

bool memory_batch_init(struct memory_batch *batch) MUST_CHECK;
void memory_batch_release(struct memory_batch *batch);
void memory_batch_clear(struct memory_batch *batch);
/* *at becomes the place of the piece in `bytes`. False: no room, and nothing was added. */
bool memory_batch_add(struct memory_batch *batch, uint64_t address, size_t size, size_t *at) MUST_CHECK;
/* All spans, in the order of their offsets. */
bool memory_batch_add_spans(struct memory_batch *batch, const struct span_set *spans, size_t *at) MUST_CHECK;
/* Without the lesser ones. */
bool memory_batch_add_plain_spans(struct memory_batch *batch, const struct span_set *spans,
                                  size_t *at) MUST_CHECK;
/* All pieces or a failure. */
enum memory_result memory_batch_read(struct memory_batch *batch, struct process_memory *memory) MUST_CHECK;

#endif
