/*
 * memory_batch.h - ranges of another process's memory, read with one system call, in the order in which they were
 * added.
 *
 * Owns: the buffers for ranges and bytes, until memory_batch_release(); reused after memory_batch_clear().
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
    int64_t read_ns; /* duration of the last read */
};

bool memory_batch_init(struct memory_batch *batch) MUST_CHECK;
void memory_batch_release(struct memory_batch *batch);
void memory_batch_clear(struct memory_batch *batch);
/* *at: offset of the range in `bytes`. False: no space, nothing was added. */
bool memory_batch_add(struct memory_batch *batch, uint64_t address, size_t size, size_t *at) MUST_CHECK;
/* All spans, in order of their offsets. */
bool memory_batch_add_spans(struct memory_batch *batch, const struct span_set *spans, size_t *at) MUST_CHECK;
/* Without lesser spans. */
bool memory_batch_add_plain_spans(struct memory_batch *batch, const struct span_set *spans,
                                  size_t *at) MUST_CHECK;
/* All ranges or a failure. */
enum memory_result memory_batch_read(struct memory_batch *batch, struct process_memory *memory) MUST_CHECK;

#endif
