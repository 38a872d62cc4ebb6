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
#define JFR_POOL_KINDS 10

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

struct jfr_pools {
    uint32_t chunk; /* of all of this process */
    bool fixed_written;
    struct jfr_pool traces, methods, classes, packages, symbols, threads, strings, frame_types, states,
        gc_whens;
    struct jfr_name_set symbol_set, class_set, package_set, native_set, string_set;
    struct id_map thread_chunks;
    uint64_t last_pools_offset; /* in the chunk; 0: none yet */
};

bool jfr_pools_init(struct jfr_pools *pools, struct error *error) MUST_CHECK;
void jfr_pools_release(struct jfr_pools *pools);
/* From here on nothing has been written. */
void jfr_pools_begin_chunk(struct jfr_pools *pools);

/* Each returns the number to write in the event. */
uint32_t jfr_pool_trace(struct jfr_pools *pools, uint32_t number);
uint32_t jfr_pool_class(struct jfr_pools *pools, struct text_view name);
uint32_t jfr_pool_string(struct jfr_pools *pools, struct text_view text);
uint32_t jfr_pool_thread(struct jfr_pools *pools, int32_t tid);

/* Puts a method under a number of the caller's, who knows that the chunk has not got it yet. */
void jfr_pool_method(struct jfr_pools *pools, uint32_t number, struct text_view class_name,
                     struct text_view name, struct text_view signature, uint32_t modifiers);

/* Appends the checkpoint event, if there is anything to say, that will lie at this offset of the chunk. */
void jfr_pools_write(struct jfr_pools *pools, struct text_builder *bytes, uint64_t offset, uint64_t ticks);

#endif
