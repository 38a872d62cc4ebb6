/*
 * jfr_pools.h - the constants that events of a chunk refer to: stacks, methods, classes, names, threads.
 *
 * A constant keeps its number until jfr_pools_renew(), and is written once in each chunk that uses it: jfr_pool_*()
 * marks it as used, jfr_pools_write() appends those marked since its last call. A number is never reused for another
 * constant in the next chunk: the JDK's reader treats constants with the same number in successive chunks as the same.
 *
 * Owns: interned names, until jfr_pools_release().
 * Threads: one at a time.
 * Limit: limit_bytes for each set of names and each pool; a constant that does not fit gets number 0, JFR's "none", and
 * is counted in `refused`. Callers check jfr_pools_name_bytes() and jfr_pools_pending_bytes(), and start another chunk
 * or write.
 */
#ifndef JVM_AGENT_JFR_POOLS_H
#define JVM_AGENT_JFR_POOLS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/id_map.h"
#include "base/string_table.h"
#include "base/text_builder.h"

#define JFR_POOL_KINDS 11
#define JFR_POOL_MAPS 7
/* Method numbers from here on belong to the Python sampler. */
#define JFR_PYTHON_METHOD_BASE 0x60000000u

struct recording_tables;

/* One pool of the unfinished checkpoint. */
struct jfr_pool_entries {
    uint32_t type;
    uint32_t count;
    struct text_builder bytes;
};

/* Names by number, each with the last chunk that contains it. */
struct jfr_name_set {
    struct string_table names;
    uint32_t base; /* added to numbers in the recording */
    uint32_t *chunks;
    size_t capacity;
};

/* A frame as stored in stacks. */
struct jfr_frame {
    uint32_t method;
    uint32_t line;
    uint32_t chunk; /* last one that contains it as a constant */
    uint8_t type;
};

struct jfr_pools {
    size_t limit_bytes;
    uint64_t refused;
    struct recording_tables *tables; /* of the stacks in the chunk */
    uint32_t chunk;                  /* last one, of the whole process */
    bool fixed_written;
    struct jfr_pool_entries traces, frames, methods, classes, packages, symbols, threads, strings,
        frame_types, states, gc_whens;
    struct jfr_name_set symbol_set, class_set, package_set, native_set, string_set;
    struct id_map thread_chunks;
    /* For compact recordings, which use small numbers: */
    struct id_map thread_numbers, method_numbers;
    struct id_map frame_numbers; /* by method, line and type */
    struct id_map word_frames;   /* by the sampler's frame word */
    struct id_map trace_numbers; /* by the sampler's number, and by content */
    struct id_map content_numbers;
    uint32_t thread_count, method_count, trace_count;
    uint32_t trace_base, frame_base; /* the same for stacks and frames */
    struct jfr_frame *frame_list;    /* from 1 */
    size_t frame_count, frame_capacity;
    uint32_t *trace_chunks; /* from 1 */
    size_t trace_capacity;
    uint32_t *stack; /* frames of the current stack */
    size_t stack_capacity;
    uint32_t jvm_thread;        /* the start function of all JVM threads */
    uint64_t last_pools_offset; /* in the chunk; 0: none yet */
};

bool jfr_pools_init(struct jfr_pools *pools, size_t limit_bytes, struct error *error) MUST_CHECK;
void jfr_pools_release(struct jfr_pools *pools);
/* Drops all names and numbers; the caller starts a chunk afterwards. False: out of memory, nothing changed. */
bool jfr_pools_renew(struct jfr_pools *pools);
/* Memory used by names and numbers, which are kept across chunks. */
size_t jfr_pools_name_bytes(const struct jfr_pools *pools);
/* Bytes that jfr_pools_write() would append. */
size_t jfr_pools_pending_bytes(const struct jfr_pools *pools);
/* Starts a chunk: nothing is written yet, and stacks refer to these tables only. */
void jfr_pools_begin_chunk(struct jfr_pools *pools, struct recording_tables *tables);

/* Each returns the number to write into the event. */
uint32_t jfr_pool_trace(struct jfr_pools *pools, uint32_t reference);
/* The number that jfr_pool_trace() returns, without marking it as used: equal for stacks with equal content. 0: no
 * space. */
uint32_t jfr_pool_trace_number(struct jfr_pools *pools, uint32_t reference);
/* The number of a stack from another source, by a unique number of the caller's. 0: no space. */
uint32_t jfr_pool_foreign_trace(struct jfr_pools *pools, uint32_t number);
/* Starts the stack if the caller knows that the chunk does not contain it; then add its frames, innermost first. */
void jfr_pool_begin_trace(struct jfr_pools *pools, uint32_t number, size_t depth);
void jfr_pool_put_frame(struct jfr_pools *pools, uint32_t method, uint32_t line, uint8_t type);
uint32_t jfr_pool_class(struct jfr_pools *pools, struct text_view name);
uint32_t jfr_pool_string(struct jfr_pools *pools, struct text_view text);
uint32_t jfr_pool_thread(struct jfr_pools *pools, int32_t tid);

/* Adds a method with a number of the caller's, who knows that the chunk does not contain it yet. */
void jfr_pool_method(struct jfr_pools *pools, uint32_t number, struct text_view class_name,
                     struct text_view name, struct text_view signature, uint32_t modifiers);

/* Appends the checkpoint event, if there are constants to write. It will be at this offset of the chunk. */
void jfr_pools_write(struct jfr_pools *pools, struct text_builder *bytes, uint64_t offset, uint64_t time_ns);

#endif
