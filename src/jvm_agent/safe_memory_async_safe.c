#include "jvm_agent/safe_memory.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The raw system call: libc's mmap() may be interposed by one that allocates. */
static void *map(size_t size, int flags)
{
    long pages =
        syscall(SYS_mmap, NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0L);
    return pages == -1 ? NULL : (void *)pages;
}

void *safe_map(size_t size)
{
    return map(size, MAP_NORESERVE);
}

void *safe_map_present(size_t size)
{
    return map(size, MAP_POPULATE);
}

void safe_unmap(void *pages, size_t size)
{
    if (pages != NULL)
        syscall(SYS_munmap, pages, size);
}

/* In as few huge pages as possible: a handler starts with cold TLBs. */
void safe_arena_reserve(struct safe_arena *arena, size_t size)
{
    char *pages = safe_map(size + SAFE_HUGE_PAGE_BYTES);
    if (pages == NULL)
        return;
    char *begin = pages + (-(uintptr_t)pages & (SAFE_HUGE_PAGE_BYTES - 1));
    syscall(SYS_madvise, begin, size, MADV_HUGEPAGE);
    for (size_t at = 0; at < size; at += 4096)
        *(volatile char *)(begin + at) = 0;
    arena->block = begin;
    arena->block_bytes = size;
    arena->block_pages = pages;
}

void *safe_arena_map(struct safe_arena *arena, size_t size)
{
    size = (size + 63) & ~(size_t)63;
    size_t used = atomic_load(&arena->block_used);
    while (used + size <= arena->block_bytes)
        if (atomic_compare_exchange_weak(&arena->block_used, &used, used + size))
            return arena->block + used;
    return safe_map_present(size);
}

void safe_arena_unmap(struct safe_arena *arena, void *pages, size_t size)
{
    if (pages == NULL)
        return;
    bool in_block = arena->block != NULL && (char *)pages >= arena->block &&
                    (char *)pages < arena->block + arena->block_bytes;
    if (!in_block)
        safe_unmap(pages, (size + 63) & ~(size_t)63);
}

static bool charge(struct safe_arena *arena, size_t size)
{
    size_t before = atomic_fetch_add(&arena->mapped_bytes, size);
    if (before + size <= arena->limit_bytes) {
        if (arena->at_mark != NULL && before < safe_arena_mark(arena) &&
            before + size >= safe_arena_mark(arena))
            arena->at_mark();
        return true;
    }
    atomic_fetch_sub(&arena->mapped_bytes, size);
    atomic_fetch_add(&arena->refused, 1);
    return false;
}

static void *map_charged(struct safe_arena *arena, size_t size)
{
    if (!charge(arena, size))
        return NULL;
    void *pages = safe_arena_map(arena, size);
    if (pages == NULL) {
        atomic_fetch_sub(&arena->mapped_bytes, size);
        atomic_fetch_add(&arena->refused, 1);
    }
    return pages;
}

void safe_arena_init(struct safe_arena *arena, size_t limit_bytes)
{
    atomic_store(&arena->chunk, NULL);
    atomic_store(&arena->mapped_bytes, 0);
    atomic_store(&arena->refused, 0);
    arena->limit_bytes = limit_bytes;
    arena->at_mark = NULL;
    arena->block = arena->block_pages = NULL;
    arena->block_bytes = 0;
    atomic_store(&arena->block_used, 0);
}

void safe_arena_release(struct safe_arena *arena)
{
    struct safe_chunk *chunk = atomic_exchange(&arena->chunk, NULL);
    while (chunk != NULL) {
        struct safe_chunk *previous = chunk->previous;
        safe_arena_unmap(arena, chunk, SAFE_CHUNK_BYTES);
        atomic_fetch_sub(&arena->mapped_bytes, SAFE_CHUNK_BYTES);
        chunk = previous;
    }
    safe_unmap(arena->block_pages, arena->block_bytes + SAFE_HUGE_PAGE_BYTES);
    arena->block = arena->block_pages = NULL;
    arena->block_bytes = 0;
}

static bool add_chunk(struct safe_arena *arena, struct safe_chunk *full)
{
    struct safe_chunk *fresh = map_charged(arena, SAFE_CHUNK_BYTES);
    if (fresh == NULL)
        return false;
    fresh->previous = full;
    atomic_store(&fresh->used_bytes, sizeof(*fresh));
    if (!atomic_compare_exchange_strong(&arena->chunk, &full, fresh)) {
        safe_arena_unmap(arena, fresh, SAFE_CHUNK_BYTES);
        atomic_fetch_sub(&arena->mapped_bytes, SAFE_CHUNK_BYTES);
    }
    return true;
}

void safe_arena_provide(struct safe_arena *arena)
{
    if (atomic_load(&arena->chunk) == NULL)
        (void)add_chunk(arena, NULL);
}

void *safe_arena_allocate(struct safe_arena *arena, size_t size)
{
    size = (size + 7) & ~(size_t)7;
    if (size > SAFE_PIECE_LIMIT_BYTES) {
        atomic_fetch_add(&arena->refused, 1);
        return NULL;
    }
    for (;;) {
        struct safe_chunk *chunk = atomic_load(&arena->chunk);
        if (chunk != NULL) {
            size_t at = atomic_fetch_add(&chunk->used_bytes, size);
            if (at + size <= SAFE_CHUNK_BYTES)
                return (char *)chunk + at;
        }
        if (!add_chunk(arena, chunk))
            return NULL;
    }
}

void safe_items_release(struct safe_items *items)
{
    if (items->segments == NULL)
        return;
    size_t segment_bytes = items->item_bytes * SAFE_SEGMENT_ITEMS;
    for (size_t i = 0; i < SAFE_SEGMENTS; i++) {
        char *segment = atomic_load(&items->segments[i]);
        if (segment == NULL)
            continue;
        safe_arena_unmap(items->arena, segment, segment_bytes);
        atomic_fetch_sub(&items->arena->mapped_bytes, segment_bytes);
    }
    safe_unmap((void *)items->segments, SAFE_SEGMENTS * sizeof(*items->segments));
    items->segments = NULL;
    atomic_store(&items->count, 0);
}

static bool provide_segment(struct safe_items *items, size_t index)
{
    if (atomic_load_explicit(&items->segments[index], memory_order_acquire) != NULL)
        return true;
    size_t segment_bytes = items->item_bytes * SAFE_SEGMENT_ITEMS;
    char *fresh = map_charged(items->arena, segment_bytes);
    if (fresh == NULL)
        return false;
    char *expected = NULL;
    if (!atomic_compare_exchange_strong(&items->segments[index], &expected, fresh)) {
        safe_arena_unmap(items->arena, fresh, segment_bytes);
        atomic_fetch_sub(&items->arena->mapped_bytes, segment_bytes);
    }
    return true;
}

/* Allocates the first items, if possible, so that no handler has to. */
bool safe_items_init(struct safe_items *items, struct safe_arena *arena, size_t item_bytes)
{
    items->arena = arena;
    items->item_bytes = item_bytes;
    atomic_store(&items->count, 0);
    items->segments = safe_map(SAFE_SEGMENTS * sizeof(*items->segments));
    if (items->segments != NULL)
        (void)provide_segment(items, 0);
    return items->segments != NULL;
}

uint32_t safe_items_add(struct safe_items *items)
{
    uint32_t number = atomic_load(&items->count);
    do {
        size_t index = (number + 1) / SAFE_SEGMENT_ITEMS;
        if (index >= SAFE_SEGMENTS || !provide_segment(items, index))
            return 0;
    } while (!atomic_compare_exchange_weak(&items->count, &number, number + 1));
    return number + 1;
}
