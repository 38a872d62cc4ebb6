/*
 * id_map.h - from 64-bit keys to 32-bit values, open addressing.
 *
 * Owns: its slots, until id_map_release().
 * Threads: one at a time.
 */
#ifndef BASE_ID_MAP_H
#define BASE_ID_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/hash.h"

#define NO_ID UINT32_MAX

struct id_map {
    struct id_map_slot *slots;
    size_t size;
    size_t mask;
};

struct id_map_slot {
    uint64_t key;
    uint32_t value; /* NO_ID: free */
};

void id_map_init(struct id_map *map);
void id_map_release(struct id_map *map);
/* Removes all keys, keeps the memory. */
void id_map_clear(struct id_map *map);
/* NO_ID: no such key. */
static inline uint32_t id_map_get(const struct id_map *map, uint64_t key);
/* Pointer to the key's value, valid until the next key is added; NULL: no such key. */
static inline uint32_t *id_map_find(const struct id_map *map, uint64_t key);
/* Sets or replaces; the value must not be NO_ID. False: out of memory. */
bool id_map_set(struct id_map *map, uint64_t key, uint32_t value) MUST_CHECK;
/* Pointer to the key's value: NO_ID for a new key, to be set before the next call. NULL: out of memory. */
uint32_t *id_map_place(struct id_map *map, uint64_t key) MUST_CHECK;

/* Where the key is, or would be; the map has slots. */
static inline size_t id_map_slot_of(const struct id_map *map, uint64_t key)
{
    size_t slot = hash_u64(key) & map->mask;
    while (map->slots[slot].value != NO_ID && map->slots[slot].key != key)
        slot = (slot + 1) & map->mask;
    return slot;
}

static inline uint32_t id_map_get(const struct id_map *map, uint64_t key)
{
    return map->slots == NULL ? NO_ID : map->slots[id_map_slot_of(map, key)].value;
}

static inline uint32_t *id_map_find(const struct id_map *map, uint64_t key)
{
    struct id_map_slot *slot = map->slots == NULL ? NULL : &map->slots[id_map_slot_of(map, key)];
    return slot == NULL || slot->value == NO_ID ? NULL : &slot->value;
}

/* What the map takes of memory. */
static inline size_t id_map_bytes(const struct id_map *map)
{
    return map->slots == NULL ? 0 : (map->mask + 1) * sizeof(*map->slots);
}

/* Prefetches what a call with this key will read. */
PREFETCHING void id_map_prefetch(const struct id_map *map, uint64_t key)
{
    if (map->slots != NULL)
        __builtin_prefetch(&map->slots[hash_u64(key) & map->mask]);
}

#endif
