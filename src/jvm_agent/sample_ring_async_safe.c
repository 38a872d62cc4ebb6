#include "jvm_agent/sample_ring.h"

bool sample_ring_init(struct sample_ring *ring, struct safe_arena *arena)
{
    ring->arena = arena;
    ring->slots = safe_arena_map(arena, SAMPLE_RING_SLOTS * sizeof(*ring->slots));
    if (ring->slots == NULL)
        return false;
    for (uint64_t i = 0; i < SAMPLE_RING_SLOTS; i++)
        atomic_store_explicit(&ring->slots[i].turn, i, memory_order_relaxed);
    atomic_store(&ring->head, 0);
    atomic_store(&ring->tail, 0);
    atomic_store(&ring->dropped, 0);
    return true;
}

void sample_ring_release(struct sample_ring *ring)
{
    safe_arena_unmap(ring->arena, ring->slots, SAMPLE_RING_SLOTS * sizeof(*ring->slots));
    ring->slots = NULL;
}

/* A slot's turn is its position when it may be filled, and one more when it may be taken. */
bool sample_ring_put(struct sample_ring *ring, const struct sample *sample)
{
    uint64_t position = atomic_load_explicit(&ring->head, memory_order_relaxed);
    for (;;) {
        struct sample_slot *slot = &ring->slots[position & (SAMPLE_RING_SLOTS - 1)];
        uint64_t turn = atomic_load_explicit(&slot->turn, memory_order_acquire);
        if (turn == position) {
            if (atomic_compare_exchange_weak(&ring->head, &position, position + 1)) {
                slot->sample = *sample;
                atomic_store_explicit(&slot->turn, position + 1, memory_order_release);
                return true;
            }
        } else if (turn < position) {
            atomic_fetch_add(&ring->dropped, 1);
            return false;
        } else {
            position = atomic_load_explicit(&ring->head, memory_order_relaxed);
        }
    }
}

bool sample_ring_take(struct sample_ring *ring, struct sample *sample)
{
    uint64_t position = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    struct sample_slot *slot = &ring->slots[position & (SAMPLE_RING_SLOTS - 1)];
    if (atomic_load_explicit(&slot->turn, memory_order_acquire) != position + 1)
        return false;
    *sample = slot->sample;
    atomic_store_explicit(&slot->turn, position + SAMPLE_RING_SLOTS, memory_order_release);
    atomic_store_explicit(&ring->tail, position + 1, memory_order_relaxed);
    return true;
}
