#include "python_sampler/memory_batch.h"

#include <stdlib.h>
#include <time.h>

#include "base/array.h"

bool memory_batch_init(struct memory_batch *batch)
{
    *batch = (struct memory_batch){.ranges = malloc(MEMORY_RANGE_LIMIT * sizeof(*batch->ranges))};
    return batch->ranges != NULL;
}

void memory_batch_release(struct memory_batch *batch)
{
    free(batch->ranges);
    free(batch->bytes);
    *batch = (struct memory_batch){.ranges = NULL};
}

void memory_batch_clear(struct memory_batch *batch)
{
    batch->count = 0;
    batch->total_bytes = 0;
}

bool memory_batch_add(struct memory_batch *batch, uint64_t address, size_t size, size_t *at)
{
    if (batch->count == MEMORY_RANGE_LIMIT || size > MEMORY_BATCH_MOST_BYTES - batch->total_bytes)
        return false;
    batch->ranges[batch->count++] = (struct iovec){(void *)(uintptr_t)address, size};
    *at = batch->total_bytes;
    batch->total_bytes += size;
    return true;
}

static void append(struct memory_batch *batch, const struct span_set *spans, bool lesser)
{
    for (size_t i = 0; i < spans->count; i++) {
        const struct span *span = &spans->spans[i];
        if (span->is_lesser == lesser)
            batch->ranges[batch->count++] =
                (struct iovec){(void *)(uintptr_t)span->start, span->end - span->start};
    }
}

bool memory_batch_add_plain_spans(struct memory_batch *batch, const struct span_set *spans, size_t *at)
{
    *at = batch->total_bytes;
    if (spans->count > MEMORY_RANGE_LIMIT - batch->count ||
        spans->total_bytes > MEMORY_BATCH_MOST_BYTES - batch->total_bytes)
        return false;
    append(batch, spans, false);
    batch->total_bytes += spans->plain_bytes;
    return true;
}

bool memory_batch_add_spans(struct memory_batch *batch, const struct span_set *spans, size_t *at)
{
    if (!memory_batch_add_plain_spans(batch, spans, at))
        return false;
    if (spans->plain_bytes < spans->total_bytes)
        append(batch, spans, true);
    batch->total_bytes += spans->total_bytes - spans->plain_bytes;
    return true;
}

static int64_t now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

enum memory_result memory_batch_read(struct memory_batch *batch, struct process_memory *memory)
{
    if (!array_reserve(&batch->bytes, &batch->capacity, batch->total_bytes, MEMORY_BATCH_MOST_BYTES))
        return MEMORY_FAULT;
    int64_t begin = now_ns();
    enum memory_result result =
        process_memory_read_ranges(memory, batch->ranges, batch->count, batch->bytes, batch->total_bytes);
    batch->read_ns = now_ns() - begin;
    return result;
}
