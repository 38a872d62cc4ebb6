#include "jvm_agent/thread_table.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "jvm_agent/thread_pages.h"

_Atomic(thread_slot *) thread_pages[THREAD_PAGES];

struct thread_record *thread_table_find(int32_t tid)
{
    if (tid <= 0 || (uint32_t)tid >= THREAD_PAGES * THREAD_PAGE_SLOTS)
        return NULL;
    thread_slot *page =
        atomic_load_explicit(&thread_pages[(uint32_t)tid / THREAD_PAGE_SLOTS], memory_order_acquire);
    return page == NULL
               ? NULL
               : atomic_load_explicit(&page[(uint32_t)tid % THREAD_PAGE_SLOTS], memory_order_acquire);
}

int32_t thread_own_id(void)
{
    return (int32_t)syscall(SYS_gettid);
}
