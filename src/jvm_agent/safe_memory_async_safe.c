#include "jvm_agent/safe_memory.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The raw system call: libc's mmap() may be replaced by an interposed one that allocates. */
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

static bool charge(struct safe_arena *arena, size_t size)
{
    size_t before = atomic_fetch_add(&arena->mapped_bytes, size);
    if (before + size <= arena->limit_bytes)
        return true;
    atomic_fetch_sub(&arena->mapped_bytes, size);
    atomic_fetch_add(&arena->refused, 1);
    return false;
}

static void *map_charged(struct safe_arena *arena, size_t size)
{
    if (!charge(arena, size))
        return NULL;
    void *pages = safe_map_present(size);
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
}

void safe_arena_release(struct safe_arena *arena)
{
    struct safe_chunk *chunk = atomic_exchange(&arena->chunk, NULL);
    while (chunk != NULL) {
        struct safe_chunk *previous = chunk->previous;
        safe_unmap(chunk, SAFE_CHUNK_BYTES);
        atomic_fetch_sub(&arena->mapped_bytes, SAFE_CHUNK_BYTES);
        chunk = previous;
    }
}

static bool add_chunk(struct safe_arena *arena, struct safe_chunk *full)
{
    struct safe_chunk *fresh = map_charged(arena, SAFE_CHUNK_BYTES);
    if (fresh == NULL)
        return false;
    fresh->previous = full;
    atomic_store(&fresh->used_bytes, sizeof(*fresh));
    if (!atomic_compare_exchange_strong(&arena->chunk, &full, fresh)) {
        safe_unmap(fresh, SAFE_CHUNK_BYTES);
        atomic_fetch_sub(&arena->mapped_bytes, SAFE_CHUNK_BYTES);
    }
    return true;
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

bool safe_items_init(struct safe_items *items, struct safe_arena *arena, size_t item_bytes)
{
    items->arena = arena;
    items->item_bytes = item_bytes;
    atomic_store(&items->count, 0);
    items->segments = safe_map(SAFE_SEGMENTS * sizeof(*items->segments));
    return items->segments != NULL;
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
        safe_unmap(segment, segment_bytes);
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
        safe_unmap(fresh, segment_bytes);
        atomic_fetch_sub(&items->arena->mapped_bytes, segment_bytes);
    }
    return true;
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
