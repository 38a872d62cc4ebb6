/*
 * python_code_cache.h - what is known of the code objects of one process: function and line table.
 *
 * A code object may be freed and another one take its place, name strings included. So what is known is compared with
 * the target again and again: never later than PYTHON_CODE_TRUST_NS after the last time, for all codes of a stack in
 * one read; from 3.14 on only when the interpreter says that it has freed code. Codes in use are watched: their bytes
 * come with the batch that reads the stacks, so that comparing costs no call of its own.
 *
 * Owns: its entries and line tables, until python_code_cache_release().
 * Threads: one at a time.
 * Limit: PYTHON_CODE_LIMIT entries and PYTHON_LINES_LIMIT_BYTES of line tables; then all is forgotten and read anew.
 */
#ifndef PYTHON_SAMPLER_PYTHON_CODE_CACHE_H
#define PYTHON_SAMPLER_PYTHON_CODE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attributes.h"
#include "base/id_map.h"
#include "python_sampler/memory_batch.h"
#include "python_sampler/python_functions.h"
#include "python_sampler/python_line_table.h"
#include "python_sampler/python_object.h"
#include "python_sampler/python_stack_reader.h"
#include "python_sampler/span_set.h"

#define PYTHON_CODE_TRUST_NS INT64_C(4000000)
#define PYTHON_CODE_LIMIT 100000
#define PYTHON_LINES_LIMIT_BYTES ((size_t)32 << 20)

struct python_code {
    uint64_t address;
    uint64_t name; /* address of the string that is shown; the qualified name where there is one */
    uint64_t file_name;
    uint64_t line_table;
    uint64_t name_hash;
    uint64_t bytecode; /* address of its first instruction */
    const struct line_range *lines;
    uint32_t line_count;
    uint32_t first_line;
    uint32_t version;  /* of this code object alone; 0: it has none */
    uint32_t function; /* NO_FUNCTION: no Python code of a user, not shown */
    bool is_generator; /* up to 3.10 */
    bool is_watched;
    int64_t checked_ns;
    uint64_t checked_generation;
};

struct python_code_cache {
    struct python_code *codes;
    size_t size;
    size_t capacity;
    struct id_map by_address;
    struct arena lines;
    uint64_t code_type; /* address of the type of code objects; 0: not seen yet */
    struct span_set spans;
    struct span_set watched_spans; /* heads and names of the codes in use */
    uint32_t *watched;             /* those codes */
    size_t watched_count, watched_capacity;
    unsigned watch_rounds;
    bool watch_is_full;
    int64_t watch_checked_ns; /* when all of them were last compared */
    uint64_t generation;      /* the interpreter's, when it was last compared */
    uint32_t epoch;           /* grows when what a code was known for may hold no longer */
    struct text_builder name_text;
    struct text_builder file_text;
    unsigned char *bytes; /* for reads of several codes */
    size_t bytes_capacity;
    uint32_t *due; /* entries to be checked */
    size_t due_capacity;
    uint64_t replaced; /* entries that turned out to be another function */
};

/* A frame as it is shown. */
struct python_frame {
    uint32_t function; /* number in python_functions */
    uint32_t line;     /* 0: unknown */
};

void python_code_cache_init(struct python_code_cache *cache);
void python_code_cache_release(struct python_code_cache *cache);
/* Whether names and lines that were resolved in `epoch` still hold. */
bool python_code_cache_holds(const struct python_code_cache *cache, uint32_t epoch, int64_t now_ns,
                             uint64_t generation);
/* Adds the watched codes to a batch when they are due. False: they are not in it. */
bool python_code_cache_plan(struct python_code_cache *cache, struct memory_batch *batch, int64_t now_ns,
                            size_t *at) MUST_CHECK;
/* Compares them, after the batch was read. */
void python_code_cache_compare(struct python_code_cache *cache, const struct python_layout *layout,
                               const unsigned char *bytes, int64_t now_ns);
/* Names `count` frames, outermost first, one for one; hidden ones get NO_FUNCTION. `has_root`: the first one is the
 * outermost of its stack. `generation` is 0 before 3.14. False: some frame is no code object, so the stack is not to
 * be trusted. */
bool python_code_cache_resolve(struct python_code_cache *cache, const struct python_reader *reader,
                               struct python_functions *functions, const struct python_raw_frame *raw,
                               size_t count, bool has_root, int64_t now_ns, uint64_t generation,
                               struct python_frame *frames) MUST_CHECK;

#endif
