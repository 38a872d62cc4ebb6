/*
 * safe_memory.h - memory for signal handlers: mapped pages, allocated without locks.
 *
 * safe_arena allocates pieces; safe_items allocates numbered items of one size, from 1 on.
 *
 * Owns: its pages, until the *_release() call, which must not run concurrently with a handler.
 * Threads: any, including signal handlers; no locks.
 * Limit: limit_bytes of the arena; then NULL, and `refused` counts it.
 */
#ifndef JVM_AGENT_SAFE_MEMORY_H
#define JVM_AGENT_SAFE_MEMORY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SAFE_CHUNK_BYTES ((size_t)256 << 10)
#define SAFE_HUGE_PAGE_BYTES ((size_t)2 << 20)
#define SAFE_PIECE_LIMIT_BYTES (SAFE_CHUNK_BYTES / 2)

struct safe_chunk {
    struct safe_chunk *previous;
    _Atomic size_t used_bytes;
};

struct safe_arena {
    _Atomic(struct safe_chunk *) chunk;
    _Atomic size_t mapped_bytes;
    _Atomic uint64_t refused;
    size_t limit_bytes;
    void (*at_mark)(void); /* called once, perhaps in a handler, when three quarters are used; or NULL */
    char *block;           /* reserved memory, aligned to a huge page */
    char *block_pages;
    size_t block_bytes;
    _Atomic size_t block_used;
};

void safe_arena_init(struct safe_arena *arena, size_t limit_bytes);
static inline size_t safe_arena_mark(const struct safe_arena *arena)
{
    return arena->limit_bytes / 4 * 3;
}

/* Call after unmapping tables, which may be in the reserved memory. */
void safe_arena_release(struct safe_arena *arena);
/* Reserves contiguous memory for the following mappings, outside of the limit. They are mapped elsewhere if this
 * fails. */
void safe_arena_reserve(struct safe_arena *arena, size_t size);
/* Present pages for a table, in reserved memory or mapped separately. Not counted against the limit. */
void *safe_arena_map(struct safe_arena *arena, size_t size);
void safe_arena_unmap(struct safe_arena *arena, void *pages, size_t size);
/* Bytes counted against the limit, and reserved but unused ones. */
static inline size_t safe_arena_bytes(const struct safe_arena *arena)
{
    return atomic_load(&arena->mapped_bytes) + arena->block_bytes - atomic_load(&arena->block_used);
}

/* Allocates space for the first pieces, if possible, so that no handler has to. */
void safe_arena_provide(struct safe_arena *arena);
/* Eight-byte aligned, zeroed. NULL at the limit, or for a piece over SAFE_PIECE_LIMIT_BYTES. */
void *safe_arena_allocate(struct safe_arena *arena, size_t size);

#define SAFE_SEGMENT_ITEMS 1024
#define SAFE_SEGMENTS 16384

struct safe_items {
    struct safe_arena *arena; /* counts the bytes, so that one limit applies to all */
    size_t item_bytes;
    _Atomic uint32_t count;
    _Atomic(char *) *segments;
};

bool safe_items_init(struct safe_items *items, struct safe_arena *arena, size_t item_bytes);
void safe_items_release(struct safe_items *items);
/* The number of a new zeroed item, or 0. */
uint32_t safe_items_add(struct safe_items *items);

static inline void *safe_items_at(const struct safe_items *items, uint32_t number)
{
    char *segment = atomic_load_explicit(&items->segments[number / SAFE_SEGMENT_ITEMS], memory_order_acquire);
    return segment + (size_t)(number % SAFE_SEGMENT_ITEMS) * items->item_bytes;
}

/* Item numbers range from 1 to this. */
static inline uint32_t safe_items_count(const struct safe_items *items)
{
    return atomic_load_explicit(&items->count, memory_order_acquire);
}

/* Pages directly from the kernel, zeroed, or NULL. Present pages cause no page fault when a handler first touches
 * them: a fault is more expensive than a step of a walk. */
void *safe_map(size_t size);
void *safe_map_present(size_t size);
void safe_unmap(void *pages, size_t size);

#endif
