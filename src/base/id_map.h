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
/* Forgets all keys, keeps the room. */
void id_map_clear(struct id_map *map);
/* NO_ID when the key is not there. */
uint32_t id_map_get(const struct id_map *map, uint64_t key);
/* The place of the key's value, until the next key is added; NULL when the key is not there. */
uint32_t *id_map_find(const struct id_map *map, uint64_t key);
/* Begins to fetch what a call with this key will read. */
void id_map_prefetch(const struct id_map *map, uint64_t key);
/* Sets or replaces; the value must not be NO_ID. False: out of memory. */
bool id_map_set(struct id_map *map, uint64_t key, uint32_t value) MUST_CHECK;
/* The place of the key's value, which is NO_ID for a new key and must then be set before the next call. NULL: out of memory. */
uint32_t *id_map_place(struct id_map *map, uint64_t key) MUST_CHECK;

#endif
