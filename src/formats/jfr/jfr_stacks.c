#include "formats/jfr/jfr_stacks.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/huge_pages.h"

#define FIRST_SLOTS 4096
#define MEANINGS_LIMIT_BYTES ((size_t)4 << 30)

struct jfr_trace_slot {
    uint64_t hash;
    uint32_t check;
    uint32_t number; /* plus one; 0: free */
};

bool jfr_stacks_init(struct jfr_stacks *stacks)
{
    *stacks = (struct jfr_stacks){.mutex = PTHREAD_MUTEX_INITIALIZER};
    stack_list_init(&stacks->list);
    id_map_init(&stacks->methods);
    return string_table_init(&stacks->meanings, MEANINGS_LIMIT_BYTES);
}

void jfr_stacks_release(struct jfr_stacks *stacks)
{
    stack_list_release(&stacks->list);
    free(stacks->slots);
    id_map_release(&stacks->methods);
    string_table_release(&stacks->meanings);
    pthread_mutex_destroy(&stacks->mutex);
}

void jfr_stacks_lock(struct jfr_stacks *stacks)
{
    pthread_mutex_lock(&stacks->mutex);
}

void jfr_stacks_unlock(struct jfr_stacks *stacks)
{
    pthread_mutex_unlock(&stacks->mutex);
}

/* Two hashes side by side, so that one's multiplication need not wait for the other's. */
struct jfr_trace_hash jfr_trace_hash(const void *bytes, size_t size, uint64_t world)
{
    const uint8_t *at = bytes;
    uint64_t left = hash_mix(world ^ HASH_SEED, HASH_MULTIPLIER), right = hash_u64(size);
    for (; size >= 32; at += 32, size -= 32) {
        left = hash_mix(hash_load64(at) ^ HASH_MULTIPLIER, hash_load64(at + 8) ^ left);
        right = hash_mix(hash_load64(at + 16) ^ HASH_SEED, hash_load64(at + 24) ^ right);
    }
    uint64_t rest = hash_bytes(at, size);
    uint64_t hash = hash_mix(left ^ rest, right ^ HASH_MULTIPLIER);
    return (struct jfr_trace_hash){hash, (uint32_t)(hash_mix(right ^ rest, left ^ HASH_SEED) >> 32)};
}

static bool grow(struct jfr_stacks *stacks)
{
    size_t old_count = stacks->slots == NULL ? 0 : stacks->slot_mask + 1;
    size_t count = old_count == 0 ? FIRST_SLOTS : old_count * 2;
    struct jfr_trace_slot *slots = calloc(count, sizeof(*slots));
    if (slots == NULL)
        return false;
    huge_pages_advise(slots, count * sizeof(*slots));
    for (size_t i = 0; i < old_count; i++) {
        if (stacks->slots[i].number == 0)
            continue;
        size_t slot = stacks->slots[i].hash & (count - 1);
        while (slots[slot].number != 0)
            slot = (slot + 1) & (count - 1);
        slots[slot] = stacks->slots[i];
    }
    free(stacks->slots);
    stacks->slots = slots;
    stacks->slot_mask = count - 1;
    return true;
}

static size_t find_slot(const struct jfr_stacks *stacks, struct jfr_trace_hash hash)
{
    size_t slot = hash.hash & stacks->slot_mask;
    for (; stacks->slots[slot].number != 0; slot = (slot + 1) & stacks->slot_mask)
        if (stacks->slots[slot].hash == hash.hash && stacks->slots[slot].check == hash.check)
            break;
    return slot;
}

void jfr_stacks_prefetch(const struct jfr_stacks *stacks, struct jfr_trace_hash hash)
{
    if (stacks->slots != NULL)
        __builtin_prefetch(&stacks->slots[hash.hash & stacks->slot_mask]);
}

uint32_t jfr_stacks_find(const struct jfr_stacks *stacks, struct jfr_trace_hash hash)
{
    if (stacks->slots == NULL)
        return NO_STACK;
    return stacks->slots[find_slot(stacks, hash)].number - 1;
}

bool jfr_stacks_set(struct jfr_stacks *stacks, struct jfr_trace_hash hash, uint32_t number)
{
    if ((stacks->slots == NULL || (stacks->size + 1) * 4 > (stacks->slot_mask + 1) * 3) && !grow(stacks))
        return false;
    struct jfr_trace_slot *slot = &stacks->slots[find_slot(stacks, hash)];
    stacks->size += slot->number == 0; /* else another thread was quicker */
    *slot = (struct jfr_trace_slot){hash.hash, hash.check, number + 1};
    return true;
}

/* Out of memory is treated like another method. */
bool jfr_stacks_agree(struct jfr_stacks *stacks, uint64_t method, struct text_view meaning)
{
    uint32_t number = string_table_add(&stacks->meanings, meaning);
    uint32_t *known = number == NO_STRING ? NULL : id_map_place(&stacks->methods, method);
    if (known == NULL)
        return false;
    if (*known == NO_ID)
        *known = number;
    return *known == number;
}

void jfr_stacks_begin_world(struct jfr_stacks *stacks, uint64_t kinds)
{
    id_map_clear(&stacks->methods);
    stacks->kinds = kinds;
    stacks->world++;
}

void jfr_stacks_seal(struct jfr_stacks *stacks)
{
    free(stacks->slots);
    stacks->slots = NULL;
    stacks->size = 0;
    id_map_release(&stacks->methods);
    string_table_release(&stacks->meanings);
}
