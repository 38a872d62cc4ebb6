/*
 * sample_ring.h - a bounded queue of samples from signal handlers to the writer thread: many producers, one consumer,
 * no locks.
 *
 * The consumer may sleep: it is woken each time a part of the ring has been filled, so that the ring does not overflow.
 *
 * A producer that is interrupted between reserving its slot and filling it delays only the consumer, never another
 * producer.
 *
 * Owns: its slots, until sample_ring_release().
 * Limit: SAMPLE_RING_SLOTS waiting samples; then sample_ring_put() returns false and `dropped` counts it.
 */
#ifndef JVM_AGENT_SAMPLE_RING_H
#define JVM_AGENT_SAMPLE_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "jvm_agent/sample.h"

#define SAMPLE_RING_SLOTS ((uint64_t)1 << 14)
#define SAMPLE_RING_PART (SAMPLE_RING_SLOTS / 4)

struct sample_slot {
    _Atomic uint64_t turn;
    struct agent_sample sample;
};

struct sample_ring {
    struct sample_slot *slots;
    _Atomic uint64_t head; /* next to fill */
    _Atomic uint64_t tail; /* next to take */
    _Atomic uint64_t dropped;
    _Atomic uint32_t calls; /* wake-ups of the consumer */
};

bool sample_ring_init(struct sample_ring *ring);
void sample_ring_release(struct sample_ring *ring);
bool sample_ring_put(struct sample_ring *ring, const struct agent_sample *sample);
/* Only one thread at a time. False: nothing is waiting. */
bool sample_ring_take(struct sample_ring *ring, struct agent_sample *sample);
/* Wakes the consumer. */
void sample_ring_call(struct sample_ring *ring);
/* Sleeps at most that long; returns immediately if sample_ring_call() was called since `calls` was read. */
void sample_ring_await(struct sample_ring *ring, uint32_t calls, uint64_t limit_ns);

#endif
