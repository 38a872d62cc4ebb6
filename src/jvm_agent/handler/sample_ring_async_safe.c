#include "jvm_agent/handler/sample_ring.h"

#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "jvm_agent/safe_memory.h"

/* Pages are not touched here; each is faulted in once for many samples. */
bool sample_ring_init(struct sample_ring *ring)
{
    ring->slots = safe_map(SAMPLE_RING_SLOTS * sizeof(*ring->slots));
    atomic_store(&ring->head, 0);
    atomic_store(&ring->tail, 0);
    atomic_store(&ring->dropped, 0);
    atomic_store(&ring->calls, 0);
    return ring->slots != NULL;
}

void sample_ring_release(struct sample_ring *ring)
{
    safe_unmap(ring->slots, SAMPLE_RING_SLOTS * sizeof(*ring->slots));
    ring->slots = NULL;
}

static struct sample_slot *slot_of(const struct sample_ring *ring, uint64_t position)
{
    return &ring->slots[position & (SAMPLE_RING_SLOTS - 1)];
}

/* The turn of a slot is the first position of the round in which it may be filled, initially 0, plus one once it may
 * be taken. */
static uint64_t turn_at(uint64_t position)
{
    return position & ~(SAMPLE_RING_SLOTS - 1);
}

void sample_ring_call(struct sample_ring *ring)
{
    atomic_fetch_add(&ring->calls, 1);
    syscall(SYS_futex, &ring->calls, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

void sample_ring_await(struct sample_ring *ring, uint32_t calls, uint64_t limit_ns)
{
    struct timespec limit = {(time_t)(limit_ns / 1000000000u), (long)(limit_ns % 1000000000u)};
    syscall(SYS_futex, &ring->calls, FUTEX_WAIT_PRIVATE, calls, &limit, NULL, 0);
}

bool sample_ring_put(struct sample_ring *ring, const struct agent_sample *sample)
{
    uint64_t position = atomic_load_explicit(&ring->head, memory_order_relaxed);
    for (;;) {
        struct sample_slot *slot = slot_of(ring, position);
        uint64_t turn = atomic_load_explicit(&slot->turn, memory_order_acquire);
        if (turn == turn_at(position)) {
            if (atomic_compare_exchange_weak(&ring->head, &position, position + 1)) {
                slot->sample = *sample;
                atomic_store_explicit(&slot->turn, turn + 1, memory_order_release);
                if ((position + 1) % SAMPLE_RING_PART == 0)
                    sample_ring_call(ring);
                return true;
            }
        } else if (turn < turn_at(position)) {
            atomic_fetch_add(&ring->dropped, 1);
            return false;
        } else {
            position = atomic_load_explicit(&ring->head, memory_order_relaxed);
        }
    }
}

bool sample_ring_take(struct sample_ring *ring, struct agent_sample *sample)
{
    uint64_t position = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    struct sample_slot *slot = slot_of(ring, position);
    if (atomic_load_explicit(&slot->turn, memory_order_acquire) != turn_at(position) + 1)
        return false;
    *sample = slot->sample;
    atomic_store_explicit(&slot->turn, turn_at(position) + SAMPLE_RING_SLOTS, memory_order_release);
    atomic_store_explicit(&ring->tail, position + 1, memory_order_relaxed);
    return true;
}
