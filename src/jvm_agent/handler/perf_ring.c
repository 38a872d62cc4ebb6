#include "jvm_agent/handler/perf_ring.h"

#include <sys/mman.h>

void *perf_ring_map(int descriptor)
{
    void *ring =
        mmap(NULL, PERF_RING_PAGES * PERF_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    return ring == MAP_FAILED ? NULL : ring;
}

void perf_ring_unmap(void *ring)
{
    if (ring != NULL)
        munmap(ring, PERF_RING_PAGES * PERF_PAGE_BYTES);
}
