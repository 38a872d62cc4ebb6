#include "native_sampler/perf_ring.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

bool perf_ring_open(struct perf_ring *ring, int descriptor, enum perf_ring_role role, size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    *ring = (struct perf_ring){.role = role, .joined = malloc(PERF_RECORD_MOST_BYTES)};
    if (ring->joined == NULL)
        return false;
    void *mapping = mmap(NULL, page + size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (mapping == MAP_FAILED) {
        free(ring->joined);
        ring->joined = NULL;
        return false;
    }
    ring->mapping = mapping;
    ring->mapping_bytes = page + size;
    ring->bytes = (unsigned char *)mapping + page;
    ring->size = size;
    return true;
}

void perf_ring_release(struct perf_ring *ring)
{
    if (ring->mapping != NULL)
        munmap(ring->mapping, ring->mapping_bytes);
    free(ring->joined);
    *ring = (struct perf_ring){.mapping = NULL};
}

void perf_ring_look(struct perf_ring *ring)
{
    const struct perf_event_mmap_page *page = ring->mapping;
    ring->head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
}

const unsigned char *perf_ring_next(struct perf_ring *ring, size_t *size)
{
    struct perf_event_header header;
    if (ring->head - ring->tail < sizeof(header))
        return NULL;
    size_t at = ring->tail & (ring->size - 1);
    memcpy(&header, ring->bytes + at, sizeof(header)); /* records are multiples of 8, so it does not wrap */
    if (header.size < sizeof(header) || header.size > ring->head - ring->tail) {
        perf_ring_pass(ring, ring->head - ring->tail); /* cannot be; what follows has no known start */
        return NULL;
    }
    *size = header.size;
    size_t before_end = ring->size - at;
    if (before_end >= header.size)
        return ring->bytes + at;
    memcpy(ring->joined, ring->bytes + at, before_end);
    memcpy(ring->joined + before_end, ring->bytes, header.size - before_end);
    return ring->joined;
}

void perf_ring_pass(struct perf_ring *ring, size_t size)
{
    struct perf_event_mmap_page *page = ring->mapping;
    ring->tail += size;
    __atomic_store_n(&page->data_tail, ring->tail, __ATOMIC_RELEASE);
}
