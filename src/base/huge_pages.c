#include "base/huge_pages.h"

#include <stdint.h>
#include <sys/mman.h>

#define HUGE_PAGE_BYTES ((uintptr_t)2 << 20)
#define SMALLEST_BYTES ((size_t)8 << 20)

void huge_pages_advise(void *memory, size_t bytes)
{
    if (memory == NULL || bytes < SMALLEST_BYTES)
        return;
    uintptr_t begin = ((uintptr_t)memory + HUGE_PAGE_BYTES - 1) & ~(HUGE_PAGE_BYTES - 1);
    uintptr_t end = ((uintptr_t)memory + bytes) & ~(HUGE_PAGE_BYTES - 1);
    (void)madvise((void *)begin, end - begin, MADV_HUGEPAGE); // NOLINT(performance-no-int-to-ptr)
}
