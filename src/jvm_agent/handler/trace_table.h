/*
 * trace_table.h - gives equal stacks one number.
 *
 * Two stacks count as equal when their 64-bit hashes are.
 *
 * Owns: copies of the frames, in the arena it was given.
 * Threads: any, also signal handlers; no locks.
 * Limit: the arena's; then trace_table_add() returns 0.
 */
#ifndef JVM_AGENT_TRACE_TABLE_H
#define JVM_AGENT_TRACE_TABLE_H

#include "jvm_agent/frame.h"
#include "jvm_agent/safe_memory.h"

#define TRACE_BUCKETS ((uint32_t)1 << 17)

struct trace {
    uint64_t hash;
    frame_word *frames; /* leaf first */
    uint32_t depth;
    uint32_t next;  /* in its bucket */
    uint32_t chunk; /* last chunk that contains it; used by the writer */
    uint32_t unused;
};

struct trace_table {
    struct safe_arena *arena;
    struct safe_items traces;
    _Atomic uint32_t *buckets;
};

bool trace_table_init(struct trace_table *table, struct safe_arena *arena);
void trace_table_release(struct trace_table *table);
/* The number of the stack, from 1 on; 0 if there is no space. */
uint32_t trace_table_add(struct trace_table *table, const frame_word *frames, uint32_t depth);

static inline struct trace *trace_table_at(const struct trace_table *table, uint32_t number)
{
    return safe_items_at(&table->traces, number);
}

#endif
