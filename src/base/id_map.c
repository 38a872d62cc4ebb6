#include "base/id_map.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_SLOTS 64

void id_map_init(struct id_map *map)
{
    *map = (struct id_map){.slots = NULL};
}

void id_map_release(struct id_map *map)
{
    free(map->slots);
    id_map_init(map);
}

void id_map_clear(struct id_map *map)
{
    if (map->slots != NULL)
        memset(map->slots, 0xff, (map->mask + 1) * sizeof(*map->slots));
    map->size = 0;
}

static bool grow(struct id_map *map)
{
    struct id_map old = *map;
    size_t count = old.slots == NULL ? FIRST_SLOTS : (old.mask + 1) * 2;
    map->slots = malloc(count * sizeof(*map->slots));
    if (map->slots == NULL) {
        *map = old;
        return false;
    }
    map->mask = count - 1;
    memset(map->slots, 0xff, count * sizeof(*map->slots));
    for (size_t i = 0; old.slots != NULL && i <= old.mask; i++)
        if (old.slots[i].value != NO_ID)
            map->slots[id_map_slot_of(map, old.slots[i].key)] = old.slots[i];
    free(old.slots);
    return true;
}

uint32_t *id_map_place(struct id_map *map, uint64_t key)
{
    if ((map->slots == NULL || (map->size + 1) * 4 > (map->mask + 1) * 3) && !grow(map))
        return NULL;
    struct id_map_slot *slot = &map->slots[id_map_slot_of(map, key)];
    if (slot->value == NO_ID) {
        slot->key = key;
        map->size++;
    }
    return &slot->value;
}

bool id_map_set(struct id_map *map, uint64_t key, uint32_t value)
{
    uint32_t *place = id_map_place(map, key);
    if (place != NULL)
        *place = value;
    return place != NULL;
}
