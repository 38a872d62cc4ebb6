#include "jvm_agent/handler/place_cache.h"

#include <stddef.h>

#include "base/hash.h"

bool place_cache_init(struct place_cache *cache, struct safe_arena *arena)
{
    cache->arena = arena;
    cache->places = safe_arena_map(arena, PLACE_CACHE_PLACES * sizeof(*cache->places));
    return cache->places != NULL;
}

void place_cache_release(struct place_cache *cache)
{
    safe_arena_unmap(cache->arena, cache->places, PLACE_CACHE_PLACES * sizeof(*cache->places));
    cache->places = NULL;
}

static struct place *place_of(const struct place_cache *cache, uintptr_t pc)
{
    return &cache->places[hash_u64(pc) & (PLACE_CACHE_PLACES - 1)];
}

/* The copy is valid only if the turn is even and the same before and after. */
__attribute__((no_sanitize("thread"))) bool place_cache_find(const struct place_cache *cache, uintptr_t pc,
                                                             bool interrupted, struct place_facts *facts,
                                                             frame_word *frames, uint32_t room)
{
    const struct place *place = place_of(cache, pc);
    uint32_t turn = atomic_load_explicit(&place->turn, memory_order_acquire);
    *facts = place->facts;
    if ((turn & 1) != 0 || facts->pc != pc || facts->interrupted != interrupted ||
        facts->frame_count > room || facts->frame_count > PLACE_FRAMES)
        return false;
    for (uint32_t i = 0; i < facts->frame_count; i++)
        frames[i] = place->frames[i];
    atomic_thread_fence(memory_order_acquire);
    return atomic_load_explicit(&place->turn, memory_order_relaxed) == turn;
}

__attribute__((no_sanitize("thread"))) void
place_cache_put(struct place_cache *cache, const struct place_facts *facts, const frame_word *frames)
{
    struct place *place = place_of(cache, facts->pc);
    uint32_t turn = atomic_load_explicit(&place->turn, memory_order_relaxed);
    if (facts->frame_count > PLACE_FRAMES || (turn & 1) != 0 ||
        !atomic_compare_exchange_strong(&place->turn, &turn, turn + 1))
        return;
    atomic_thread_fence(memory_order_release);
    place->facts = *facts;
    for (uint32_t i = 0; i < facts->frame_count; i++)
        place->frames[i] = frames[i];
    atomic_store_explicit(&place->turn, turn + 2, memory_order_release);
}
