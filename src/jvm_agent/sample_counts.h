/*
 * sample_counts.h - samples of a recording summed up by kind, stack, thread and class: what the text outputs print.
 *
 * Owns: its entries, until sample_counts_release().
 * Threads: one at a time.
 * Limit: SAMPLE_COUNTS_LIMIT entries; later ones are counted in `dropped`.
 */
#ifndef JVM_AGENT_SAMPLE_COUNTS_H
#define JVM_AGENT_SAMPLE_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id_map.h"
#include "jvm_agent/sample_ring.h"

#define SAMPLE_COUNTS_LIMIT ((size_t)1 << 24)

struct sample_count {
    uint64_t samples;
    uint64_t value;
    uint32_t trace;
    int32_t tid; /* 0: all threads */
    uint32_t class_number;
    uint8_t kind;
    uint8_t state;
};

struct sample_counts {
    struct sample_count *entries;
    size_t count, capacity;
    struct id_map by_key;
    uint64_t dropped;
    bool by_thread;
};

void sample_counts_init(struct sample_counts *counts, bool by_thread);
void sample_counts_release(struct sample_counts *counts);
void sample_counts_add(struct sample_counts *counts, const struct sample *sample);

#endif
