#include "jvm_agent/native_memory.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/hash.h"
#include "jvm_agent/import_patch.h"
#include "jvm_agent/own_stack.h"
#include "jvm_agent/rate_limit.h"
#include "jvm_agent/sampler.h"

#define PROBES 16u

static _Atomic bool wanted;
static bool follow_releases;
static uint64_t interval;
static _Atomic uint64_t bytes_since; /* the last sample */
static _Atomic uintptr_t *followed;  /* addresses of samples that were not released yet */

static _Atomic uintptr_t *slots_of(uintptr_t address)
{
    return &followed[hash_u64(address) & (NATIVE_MEMORY_FOLLOWED - 1) & ~(uint64_t)(PROBES - 1)];
}

static bool follow(uintptr_t address)
{
    _Atomic uintptr_t *slots = slots_of(address);
    for (uint32_t i = 0; i < PROBES; i++) {
        uintptr_t none = 0;
        if (atomic_compare_exchange_strong(&slots[i], &none, address))
            return true;
    }
    return false;
}

static bool forget(uintptr_t address)
{
    _Atomic uintptr_t *slots = slots_of(address);
    for (uint32_t i = 0; i < PROBES; i++) {
        uintptr_t known = address;
        if (atomic_load_explicit(&slots[i], memory_order_relaxed) == address &&
            atomic_compare_exchange_strong(&slots[i], &known, 0))
            return true;
    }
    return false;
}

/* Taken when so many bytes came since the last one that was. */
static uint64_t bytes_of_sample(uint64_t size)
{
    uint64_t sum = atomic_fetch_add_explicit(&bytes_since, size, memory_order_relaxed) + size;
    if (sum < interval)
        return 0;
    return atomic_exchange(&bytes_since, 0) > 0 || interval == 0 ? size : 0;
}

static void put(uintptr_t address, uint64_t size, enum sample_kind kind)
{
    struct thread_record *record = thread_table_find(thread_own_id());
    uint64_t now_ns = sampler_now_ns();
    if (record == NULL || atomic_load(&record->own))
        return;
    struct sample sample = {.kind = (uint8_t)kind, .time_ns = now_ns, .weight = 1, .value = size};
    sample.detail = address;
    atomic_fetch_add(&sampler.active, 1);
    if (atomic_load(&sampler.running) && rate_limit_allows(kind, now_ns) &&
        (kind == SAMPLE_FREE || follow(address))) {
        if (kind == SAMPLE_MALLOC)
            sample.trace = own_stack_take_native(record);
        sampler_put_stack(record, &sample);
    }
    atomic_fetch_sub(&sampler.active, 1);
}

static void allocated(void *memory, size_t size)
{
    if (memory == NULL || size == 0 || !atomic_load_explicit(&wanted, memory_order_relaxed) ||
        bytes_of_sample(size) == 0)
        return;
    int saved_errno = errno;
    put((uintptr_t)memory, size, SAMPLE_MALLOC);
    errno = saved_errno;
}

/* Before it is released: afterwards another thread may get the same address. */
static void releasing(void *memory)
{
    if (memory == NULL || !atomic_load_explicit(&wanted, memory_order_relaxed) ||
        !forget((uintptr_t)memory) || !follow_releases)
        return;
    int saved_errno = errno;
    put((uintptr_t)memory, 0, SAMPLE_FREE);
    errno = saved_errno;
}

static void *malloc_hook(size_t size)
{
    void *memory = malloc(size);
    allocated(memory, size);
    return memory;
}

static void *calloc_hook(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    allocated(memory, memory == NULL ? 0 : count * size);
    return memory;
}

static void *realloc_hook(void *old, size_t size)
{
    releasing(old);
    void *memory = realloc(old, size);
    allocated(memory, size);
    return memory;
}

static void free_hook(void *memory)
{
    releasing(memory);
    free(memory);
}

static int posix_memalign_hook(void **memory, size_t alignment, size_t size)
{
    int failed = posix_memalign(memory, alignment, size);
    if (failed == 0)
        allocated(*memory, size);
    return failed;
}

static void *aligned_alloc_hook(size_t alignment, size_t size)
{
    void *memory = aligned_alloc(alignment, size);
    allocated(memory, size);
    return memory;
}

static const struct import_hook hooks[] = {
    {"malloc", (void *)malloc_hook},
    {"calloc", (void *)calloc_hook},
    {"realloc", (void *)realloc_hook},
    {"free", (void *)free_hook},
    {"posix_memalign", (void *)posix_memalign_hook},
    {"aligned_alloc", (void *)aligned_alloc_hook},
};

void native_memory_patch(void)
{
    if (atomic_load(&wanted))
        import_patch(hooks, COUNT_OF(hooks), NULL, NULL);
}

bool native_memory_start(uint64_t interval_bytes, bool releases, struct error *error)
{
    size_t bytes = NATIVE_MEMORY_FOLLOWED * sizeof(*followed);
    if (followed == NULL) {
        void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED)
            return error_set_memory(error);
        followed = memory;
    }
    for (size_t i = 0; i < NATIVE_MEMORY_FOLLOWED; i++)
        atomic_store_explicit(&followed[i], 0, memory_order_relaxed);
    interval = interval_bytes;
    follow_releases = releases;
    atomic_store(&bytes_since, 0);
    atomic_store(&wanted, true);
    native_memory_patch();
    return true;
}

void native_memory_stop(void)
{
    atomic_store(&wanted, false);
}
