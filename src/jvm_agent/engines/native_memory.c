#include "jvm_agent/engines/native_memory.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/hash.h"
#include "jvm_agent/agent_clock.h"
#include "jvm_agent/engines/library_watch.h"
#include "jvm_agent/handler/own_stack.h"
#include "jvm_agent/handler/rate_limit.h"
#include "jvm_agent/handler/sampler.h"
#include "jvm_agent/hooks/import_patch.h"

#define PROBES 16u

static _Atomic bool wanted;
static bool follow_releases;
static uint64_t interval;
static _Atomic uint64_t bytes_since; /* the last sample */
static _Atomic uintptr_t *followed;  /* addresses of sampled allocations that are not released yet */

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

/* The size if this allocation is sampled, else 0. */
static uint64_t bytes_of_sample(uint64_t size)
{
    uint64_t sum = atomic_fetch_add_explicit(&bytes_since, size, memory_order_relaxed) + size;
    if (sum < interval)
        return 0;
    return atomic_exchange(&bytes_since, 0) > 0 || interval == 0 ? size : 0;
}

/* True if another tool's hook called us for the same call, or for its own allocation. */
static bool is_nested(void)
{
    return atomic_load_explicit(&import_chains, memory_order_relaxed) && import_chain_is_nested();
}

static void put(uintptr_t address, uint64_t size, enum sample_kind kind)
{
    struct thread_record *record = thread_table_find(thread_own_id());
    uint64_t now_ns = agent_now_ns();
    if (record == NULL || atomic_load(&record->own))
        return;
    struct agent_sample sample = {.kind = (uint8_t)kind, .time_ns = now_ns, .weight = 1, .value = size};
    sample.detail = address;
    struct recording_tables *tables = sampler_enter();
    if (atomic_load(&sampler.running) && rate_limit_allows(kind, now_ns) &&
        (kind == SAMPLE_FREE || follow(address))) {
        if (kind == SAMPLE_MALLOC)
            sample.trace = own_stack_take_native(tables, record);
        sampler_put_stack(record, &sample);
    }
    sampler_leave(tables);
}

static void allocated(void *memory, size_t size)
{
    if (memory == NULL || size == 0 || !atomic_load_explicit(&wanted, memory_order_relaxed) || is_nested() ||
        bytes_of_sample(size) == 0)
        return;
    int saved_errno = errno;
    put((uintptr_t)memory, size, SAMPLE_MALLOC);
    errno = saved_errno;
}

/* Called before the release: afterwards another thread may get the same address. */
static void releasing(void *memory)
{
    if (memory == NULL || !atomic_load_explicit(&wanted, memory_order_relaxed) || is_nested() ||
        !forget((uintptr_t)memory) || !follow_releases)
        return;
    int saved_errno = errno;
    put((uintptr_t)memory, 0, SAMPLE_FREE);
    errno = saved_errno;
}

enum { MALLOC, CALLOC, REALLOC, FREE, POSIX_MEMALIGN, ALIGNED_ALLOC };
static struct import_hook hooks[];

static void *malloc_hook(size_t size)
{
    void *memory = IMPORT_NEXT(hooks[MALLOC], malloc)(size);
    allocated(memory, size);
    return memory;
}

static void *calloc_hook(size_t count, size_t size)
{
    void *memory = IMPORT_NEXT(hooks[CALLOC], calloc)(count, size);
    allocated(memory, memory == NULL ? 0 : count * size);
    return memory;
}

static void *realloc_hook(void *old, size_t size)
{
    releasing(old);
    void *memory = IMPORT_NEXT(hooks[REALLOC], realloc)(old, size);
    allocated(memory, size);
    return memory;
}

static void free_hook(void *memory)
{
    releasing(memory);
    IMPORT_NEXT(hooks[FREE], free)(memory);
}

static int posix_memalign_hook(void **memory, size_t alignment, size_t size)
{
    int failed = IMPORT_NEXT(hooks[POSIX_MEMALIGN], posix_memalign)(memory, alignment, size);
    if (failed == 0)
        allocated(*memory, size);
    return failed;
}

static void *aligned_alloc_hook(size_t alignment, size_t size)
{
    void *memory = IMPORT_NEXT(hooks[ALIGNED_ALLOC], aligned_alloc)(alignment, size);
    allocated(memory, size);
    return memory;
}

static void *chained_malloc(size_t size)
{
    struct import_chain chain = import_chain_begin(&hooks[MALLOC]);
    void *memory = ((__typeof__(malloc) *)chain.function)(size);
    import_chain_end(chain);
    return memory;
}

static void *chained_calloc(size_t count, size_t size)
{
    struct import_chain chain = import_chain_begin(&hooks[CALLOC]);
    void *memory = ((__typeof__(calloc) *)chain.function)(count, size);
    import_chain_end(chain);
    return memory;
}

static void *chained_realloc(void *old, size_t size)
{
    struct import_chain chain = import_chain_begin(&hooks[REALLOC]);
    void *memory = ((__typeof__(realloc) *)chain.function)(old, size);
    import_chain_end(chain);
    return memory;
}

static void chained_free(void *memory)
{
    struct import_chain chain = import_chain_begin(&hooks[FREE]);
    ((__typeof__(free) *)chain.function)(memory);
    import_chain_end(chain);
}

static int chained_posix_memalign(void **memory, size_t alignment, size_t size)
{
    struct import_chain chain = import_chain_begin(&hooks[POSIX_MEMALIGN]);
    int failed = ((__typeof__(posix_memalign) *)chain.function)(memory, alignment, size);
    import_chain_end(chain);
    return failed;
}

static void *chained_aligned_alloc(size_t alignment, size_t size)
{
    struct import_chain chain = import_chain_begin(&hooks[ALIGNED_ALLOC]);
    void *memory = ((__typeof__(aligned_alloc) *)chain.function)(alignment, size);
    import_chain_end(chain);
    return memory;
}

static struct import_hook hooks[] = {
    [MALLOC] = {"malloc", (void *)malloc_hook, (void *)chained_malloc},
    [CALLOC] = {"calloc", (void *)calloc_hook, (void *)chained_calloc},
    [REALLOC] = {"realloc", (void *)realloc_hook, (void *)chained_realloc},
    [FREE] = {"free", (void *)free_hook, (void *)chained_free},
    [POSIX_MEMALIGN] = {"posix_memalign", (void *)posix_memalign_hook, (void *)chained_posix_memalign},
    [ALIGNED_ALLOC] = {"aligned_alloc", (void *)aligned_alloc_hook, (void *)chained_aligned_alloc},
};

static struct import_group imports = {hooks, COUNT_OF(hooks), IMPORTS_OF_ALL};

bool native_memory_start(uint64_t interval_bytes, bool releases, struct error *error)
{
    size_t bytes = NATIVE_MEMORY_FOLLOWED * sizeof(*followed);
    if (!import_group_open(&imports))
        return error_set(error, ERROR_UNSUPPORTED, "cannot find malloc() and related functions");
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
    atomic_store(&imports.wanted, true);
    library_watch_update();
    return true;
}

void native_memory_stop(void)
{
    atomic_store(&wanted, false);
    atomic_store(&imports.wanted, false);
    library_watch_update();
}
