/*
 * sample_ring.h - the way from signal handlers to the writer thread: a bounded queue of samples, many producers, one
 * consumer, no locks.
 *
 * The consumer may sleep: it is woken after each part of the ring that was filled, so that samples find room.
 *
 * A producer that is interrupted between taking its place and filling it holds up only the consumer, never another
 * producer.
 *
 * Owns: its slots, until sample_ring_release().
 * Limit: SAMPLE_RING_SLOTS waiting samples; sample_ring_put() then returns false and `dropped` counts it.
 */
#ifndef JVM_AGENT_SAMPLE_RING_H
#define JVM_AGENT_SAMPLE_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define SAMPLE_RING_SLOTS ((uint64_t)1 << 14)
#define SAMPLE_RING_PART (SAMPLE_RING_SLOTS / 4)

enum sample_kind {
    SAMPLE_EXECUTION,
    SAMPLE_WALL,
    SAMPLE_ALLOCATION,
    SAMPLE_ALLOCATION_OUTSIDE,
    SAMPLE_LIVE_OBJECT,
    SAMPLE_MONITOR,
    SAMPLE_PARK,
    SAMPLE_MALLOC,
    SAMPLE_FREE,
    SAMPLE_SPAN,   /* from `time_ns` to `detail`, with the text of `tag` or SPAN_WITHOUT_TAG */
    SAMPLE_WINDOW, /* sampling was on from `time_ns` to `detail` */
    SAMPLE_TAG,    /* the thread's tag changed to `tag`; `value` is the one before */
    SAMPLE_KINDS
};

#define SPAN_WITHOUT_TAG UINT32_MAX

/* The numbers of JFR's thread states in every recording we write. */
enum thread_state { THREAD_STATE_DEFAULT, THREAD_STATE_RUNNABLE, THREAD_STATE_SLEEPING };

struct sample {
    uint64_t time_ns; /* CLOCK_MONOTONIC; for those with a duration, their begin */
    uint64_t value;   /* nanoseconds, bytes or events that the sample stands for */
    uint64_t
        detail; /* allocation: size of the object; lock: its address; live object: when it was allocated */
    uint32_t trace;
    int32_t tid;
    uint32_t tag;
    uint32_t class_number; /* in the method table's classes, 0: none */
    uint32_t weight;       /* samples that this one stands for */
    uint8_t kind;
    uint8_t state;
};

struct sample_slot {
    _Atomic uint64_t turn;
    struct sample sample;
};

struct sample_ring {
    struct sample_slot *slots;
    _Atomic uint64_t head; /* next to fill */
    _Atomic uint64_t tail; /* next to take */
    _Atomic uint64_t dropped;
    _Atomic uint32_t calls; /* for the consumer */
};

bool sample_ring_init(struct sample_ring *ring);
void sample_ring_release(struct sample_ring *ring);
bool sample_ring_put(struct sample_ring *ring, const struct sample *sample);
/* Only one thread at a time. False: nothing is waiting. */
bool sample_ring_take(struct sample_ring *ring, struct sample *sample);
/* Wakes the consumer. */
void sample_ring_call(struct sample_ring *ring);
/* Sleeps at most so long, not at all if there was a call since `calls` was so many. */
void sample_ring_await(struct sample_ring *ring, uint32_t calls, uint64_t limit_ns);

#endif
