/*
 * sample_counts.h - samples of a recording, summed by kind, stack, thread and class, for text outputs.
 *
 * Owns: its entries, in the arena it was given, until sample_counts_release().
 * Threads: any, including signal handlers; no locks.
 * Limit: the arena's; samples that do not fit are counted in `dropped`.
 */
#ifndef JVM_AGENT_SAMPLE_COUNTS_H
#define JVM_AGENT_SAMPLE_COUNTS_H

#include "jvm_agent/safe_memory.h"
#include "jvm_agent/sample.h"

#define SAMPLE_COUNT_BUCKETS ((uint32_t)1 << 15)

struct sample_count {
    _Atomic uint64_t samples; /* set last; 0: the sample is counted in another entry */
    _Atomic uint64_t value;
    uint32_t trace;
    int32_t tid; /* 0: all threads */
    uint32_t class_number;
    uint32_t next; /* in its bucket */
    uint8_t kind;
    uint8_t state;
};

struct sample_counts {
    struct safe_arena *arena;
    struct safe_items entries;
    _Atomic uint32_t *buckets;
    _Atomic uint64_t dropped;
    bool by_thread;
};

bool sample_counts_init(struct sample_counts *counts, struct safe_arena *arena, bool by_thread);
void sample_counts_release(struct sample_counts *counts);
/* False: there is no space. */
bool sample_counts_add(struct sample_counts *counts, const struct agent_sample *sample);

static inline struct sample_count *sample_counts_at(const struct sample_counts *counts, uint32_t number)
{
    return safe_items_at(&counts->entries, number);
}

/* Numbers range from 1 to this. */
static inline uint32_t sample_counts_number(const struct sample_counts *counts)
{
    return safe_items_count(&counts->entries);
}

#endif
