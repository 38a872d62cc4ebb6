#include "base/hash_index.h"

#include <stdlib.h>
#include <string.h>

#include "base/huge_pages.h"

#define FIRST_SLOTS 256

void hash_index_init(struct hash_index *index)
{
    *index = (struct hash_index){.slots = NULL};
}

void hash_index_release(struct hash_index *index)
{
    free(index->slots);
    hash_index_init(index);
}

void hash_index_clear(struct hash_index *index)
{
    if (index->slots != NULL)
        memset(index->slots, 0, (index->mask + 1) * sizeof(*index->slots));
    index->size = 0;
}

bool hash_index_grow(struct hash_index *index, size_t count)
{
    size_t old_count = index->slots == NULL ? 0 : index->mask + 1;
    size_t new_count = old_count == 0 ? FIRST_SLOTS : old_count * 2;
    while ((index->size + count) * 3 > new_count * 2)
        new_count *= 2;
    uint64_t *slots = calloc(new_count, sizeof(*slots));
    if (slots == NULL)
        return false;
    huge_pages_advise(slots, new_count * sizeof(*slots));
    for (size_t i = 0; i < old_count; i++) {
        if (index->slots[i] == 0)
            continue;
        size_t slot = index->slots[i] >> 32 & (new_count - 1);
        while (slots[slot] != 0)
            slot = (slot + 1) & (new_count - 1);
        slots[slot] = index->slots[i];
    }
    free(index->slots);
    index->slots = slots;
    index->mask = new_count - 1;
    return true;
}
