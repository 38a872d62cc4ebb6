/*
 * jfr_pools.h - the constants that events of a chunk refer to: stacks, methods, classes, names, threads.
 *
 * A constant keeps its number for the whole recording, and is written once in each chunk that uses it: jfr_pool_*()
 * notes a use, jfr_pools_write() appends what has been noted since its last call.
 *
 * Owns: interned names, until jfr_pools_release().
 * Threads: one at a time.
 * Limit: JFR_POOLS_LIMIT_BYTES of names; what finds no room has the number 0, JFR's "none".
 */
#ifndef JVM_AGENT_JFR_POOLS_H
#define JVM_AGENT_JFR_POOLS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/id_map.h"
#include "base/string_table.h"
#include "base/text_builder.h"

#define JFR_POOLS_LIMIT_BYTES ((size_t)256 << 20)
#define JFR_POOL_KINDS 11
#define JFR_POOL_MAPS 7
/* Methods from here on are numbered by who samples Python. */
#define JFR_PYTHON_METHOD_BASE 0x60000000u

/* One pool of the checkpoint in the making. */
struct jfr_pool {
    uint32_t type;
    uint32_t count;
    struct text_builder bytes;
};

/* Names by number, each with the last chunk that holds it. */
struct jfr_name_set {
    struct string_table names;
    uint32_t *chunks;
    size_t capacity;
};

/* A frame as stacks have it. */
struct jfr_frame {
    uint32_t method;
    uint32_t line;
    uint32_t chunk; /* the last that holds it as a constant */
    uint8_t type;
};

struct jfr_pools {
    uint32_t chunk; /* of all of this process */
    bool fixed_written;
    struct jfr_pool traces, frames, methods, classes, packages, symbols, threads, strings, frame_types,
        states, gc_whens;
    struct jfr_name_set symbol_set, class_set, package_set, native_set, string_set;
    struct id_map thread_chunks;
    /* Of compact recordings, whose numbers are small: */
    struct id_map thread_numbers, method_numbers;
    struct id_map frame_numbers; /* by method, line and type */
    struct id_map word_frames;   /* by the sampler's word */
    struct id_map trace_numbers; /* by the sampler's number, and by what the stack holds */
    struct id_map content_numbers;
    uint32_t thread_count, method_count, trace_count;
    struct jfr_frame *frame_list; /* from 1 */
    size_t frame_count, frame_capacity;
    uint32_t *trace_chunks; /* from 1 */
    size_t trace_capacity;
    uint32_t *stack; /* the frames of the one that is looked at */
    size_t stack_capacity;
    uint32_t jvm_thread;        /* the function that all threads of the JVM begin with */
    uint64_t last_pools_offset; /* in the chunk; 0: none yet */
};

bool jfr_pools_init(struct jfr_pools *pools, struct error *error) MUST_CHECK;
void jfr_pools_release(struct jfr_pools *pools);
/* From here on nothing has been written. */
void jfr_pools_begin_chunk(struct jfr_pools *pools);

/* Each returns the number to write in the event. */
uint32_t jfr_pool_trace(struct jfr_pools *pools, uint32_t number);
/* The number that jfr_pool_trace() returns, without a use: stacks that are written alike have the same. 0: no room. */
uint32_t jfr_pool_trace_number(struct jfr_pools *pools, uint32_t number);
/* The number of a stack that is not the sampler's, by a number of the caller's that no other stack has. 0: no room. */
uint32_t jfr_pool_foreign_trace(struct jfr_pools *pools, uint32_t number);
/* Begins it, if the chunk has not got it yet, which the caller knows; then come its frames, innermost first. */
void jfr_pool_begin_trace(struct jfr_pools *pools, uint32_t number, size_t depth);
void jfr_pool_put_frame(struct jfr_pools *pools, uint32_t method, uint32_t line, uint8_t type);
uint32_t jfr_pool_class(struct jfr_pools *pools, struct text_view name);
uint32_t jfr_pool_string(struct jfr_pools *pools, struct text_view text);
uint32_t jfr_pool_thread(struct jfr_pools *pools, int32_t tid);

/* Puts a method under a number of the caller's, who knows that the chunk has not got it yet. */
void jfr_pool_method(struct jfr_pools *pools, uint32_t number, struct text_view class_name,
                     struct text_view name, struct text_view signature, uint32_t modifiers);

/* Appends the checkpoint event, if there is anything to say, that will lie at this offset of the chunk. */
void jfr_pools_write(struct jfr_pools *pools, struct text_builder *bytes, uint64_t offset, uint64_t time_ns);

#endif
