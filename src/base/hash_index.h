/*
 * hash_index.h - finds items of an array by their hash: open addressing with linear probing.
 *
 * The index holds numbers of items and 32 bits of each one's hash. The items are the caller's, who compares those
 * that it is offered:
 *
 *     size_t slot;
 *     for (uint32_t i = hash_index_first(&index, hash, &slot); i != NO_ITEM; i = hash_index_next(&index, hash, &slot))
 *         if (items[i] is the one looked for)
 *             return i;
 *     if (!hash_index_reserve(&index, 1))
 *         return out of memory;
 *     append the item, then hash_index_put(&index, hash, its number);
 *
 * Items are never hashed again when the index grows.
 *
 * Owns: its slots, until hash_index_release(). All zero is an empty index.
 * Threads: one at a time.
 * Limit: UINT32_MAX - 1 items.
 */
#ifndef BASE_HASH_INDEX_H
#define BASE_HASH_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"

#define NO_ITEM UINT32_MAX

struct hash_index {
    uint64_t *slots; /* high half: the hash; low half: number + 1; 0 is free. NULL: none yet */
    size_t mask;
    size_t size; /* number of items */
};

void hash_index_init(struct hash_index *index);
/* An empty index again. */
void hash_index_release(struct hash_index *index);
/* Forgets all items, keeps the room. */
void hash_index_clear(struct hash_index *index);
/* For hash_index_reserve() only. */
bool hash_index_grow(struct hash_index *index, size_t count) MUST_CHECK;

/* Room for `count` items more. False: out of memory; all is as it was. */
static inline bool hash_index_reserve(struct hash_index *index, size_t count)
{
    return LIKELY(index->slots != NULL && (index->size + count) * 3 <= (index->mask + 1) * 2) ||
           hash_index_grow(index, count);
}

/* What the index takes of memory. */
static inline size_t hash_index_bytes(const struct hash_index *index)
{
    return index->slots == NULL ? 0 : (index->mask + 1) * sizeof(*index->slots);
}

/* From *slot on: the number of the first item with that hash, NO_ITEM at a free slot. */
static inline uint32_t hash_index_scan(const struct hash_index *index, uint32_t hash, size_t *slot)
{
    for (;; *slot = (*slot + 1) & index->mask) {
        uint64_t held = index->slots[*slot];
        if (held == 0 || held >> 32 == hash)
            return (uint32_t)held - 1;
    }
}

/* The number of the first item with that hash; NO_ITEM: none. */
static inline uint32_t hash_index_first(const struct hash_index *index, uint32_t hash, size_t *slot)
{
    *slot = hash & index->mask;
    return UNLIKELY(index->slots == NULL) ? NO_ITEM : hash_index_scan(index, hash, slot);
}

/* The next one, after one that was not NO_ITEM. */
static inline uint32_t hash_index_next(const struct hash_index *index, uint32_t hash, size_t *slot)
{
    *slot = (*slot + 1) & index->mask;
    return hash_index_scan(index, hash, slot);
}

/* Adds an item that is not there yet; hash_index_reserve() has made room for it. */
static inline void hash_index_put(struct hash_index *index, uint32_t hash, uint32_t number)
{
    size_t slot = hash & index->mask;
    while (index->slots[slot] != 0)
        slot = (slot + 1) & index->mask;
    index->slots[slot] = (uint64_t)hash << 32 | (number + UINT64_C(1));
    index->size++;
}

/* Begins to fetch what a search for that hash will read. */
PREFETCHING void hash_index_prefetch(const struct hash_index *index, uint32_t hash)
{
    if (index->slots != NULL)
        __builtin_prefetch(&index->slots[hash & index->mask]);
}

/* The item at which a search for that hash is likely to end, to be fetched; NO_ITEM: none. */
static inline uint32_t hash_index_guess(const struct hash_index *index, uint32_t hash)
{
    return index->slots == NULL ? NO_ITEM : (uint32_t)index->slots[hash & index->mask] - 1;
}

#endif
