/*
 * recording_tables.h - the tables that samples refer to by number: stacks, methods, classes, and counts of samples.
 *
 * A recording that runs for weeks has more stacks than fit in memory. So its tables are renewed (sampler_renew()): new
 * ones are used from then on, and the old ones are released as soon as no handler uses them and their samples are
 * written. A stack reference contains the generation of its tables in the upper byte and its number in trace_table.h
 * below.
 *
 * Owns: everything in it, from recording_tables_open() to recording_tables_close().
 * Threads: open and close one at a time and not in a handler; see each table for the rest.
 * Limit: limit_bytes for all tables; see each table for what happens at the limit.
 */
#ifndef JVM_AGENT_RECORDING_TABLES_H
#define JVM_AGENT_RECORDING_TABLES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "jvm_agent/handler/class_names.h"
#include "jvm_agent/handler/place_cache.h"
#include "jvm_agent/handler/sample_counts.h"
#include "jvm_agent/handler/trace_table.h"
#include "jvm_agent/safe_memory.h"
#include "jvm_agent/vm/method_table.h"

#define TRACE_NUMBER_BITS 24 /* as many as safe_items.h has numbers */
#define TRACE_NUMBER_MASK (((uint32_t)1 << TRACE_NUMBER_BITS) - 1)

struct recording_tables {
    struct safe_arena arena;
    struct method_table methods;
    struct trace_table traces;
    struct place_cache places;
    struct sample_counts counts;
    struct class_names classes;
    _Atomic uint32_t active; /* number of handlers that use these tables */
    uint8_t generation;
    bool opened;
};

bool recording_tables_open(struct recording_tables *tables, size_t limit_bytes, bool by_thread);
/* No handler may be using them. */
void recording_tables_close(struct recording_tables *tables);
/* Memory use of all tables. */
size_t recording_tables_bytes(const struct recording_tables *tables);
/* Memory use before the first sample. */
size_t recording_tables_fixed_bytes(void);
/* True if they should be renewed: three quarters of some table are used. */
bool recording_tables_are_nearly_full(struct recording_tables *tables);
/* Copies a stack of other tables, by reference; 0 if there is no space. */
uint32_t recording_tables_copy_trace(struct recording_tables *tables, const struct recording_tables *from,
                                     uint32_t reference);

static inline uint8_t trace_generation(uint32_t reference)
{
    return (uint8_t)(reference >> TRACE_NUMBER_BITS);
}

/* 0 (no stack) for 0. */
static inline uint32_t trace_reference(const struct recording_tables *tables, uint32_t number)
{
    return number == 0 ? 0 : (uint32_t)tables->generation << TRACE_NUMBER_BITS | number;
}

static inline bool recording_tables_have(const struct recording_tables *tables, uint32_t reference)
{
    return (reference & TRACE_NUMBER_MASK) != 0 && trace_generation(reference) == tables->generation;
}

static inline struct trace *recording_tables_trace(const struct recording_tables *tables, uint32_t reference)
{
    return trace_table_at(&tables->traces, reference & TRACE_NUMBER_MASK);
}

#endif
