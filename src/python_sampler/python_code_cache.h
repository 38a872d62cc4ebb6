/*
 * python_code_cache.h - the known code objects of a process: function and line table.
 *
 * A code object may be freed and replaced by another one at the same address, including its name strings. So entries
 * are compared with the target repeatedly: at most PYTHON_CODE_TRUST_NS after the last time, for all codes of a stack
 * in one read; since 3.14 only if the interpreter reports that it has freed code. Codes in use are watched: their bytes
 * are read in the same batch as the stacks, so that comparing them needs no separate call.
 *
 * Owns: its entries and line tables, until python_code_cache_release().
 * Threads: one at a time.
 * Limit: PYTHON_CODE_LIMIT entries and PYTHON_LINES_LIMIT_BYTES of line tables; then all are dropped and read again.
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
    uint64_t name; /* address of the displayed name; the qualified name if there is one */
    uint64_t file_name;
    uint64_t line_table;
    uint64_t name_hash;
    uint64_t bytecode; /* address of its first instruction */
    const struct line_range *lines;
    const uint32_t *returns; /* offsets of the instructions that end a frame */
    uint32_t line_count;
    uint32_t return_count;
    uint32_t first_line;
    uint32_t version;  /* unique to this code object; 0: none */
    uint32_t function; /* NO_FUNCTION: internal code, not shown */
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
    uint64_t code_type; /* address of the type of code objects; 0: unknown */
    struct span_set spans;
    struct span_set watched_spans; /* heads and names of the codes in use */
    uint32_t *watched;             /* those codes */
    size_t watched_count, watched_capacity;
    unsigned watch_rounds;
    bool watch_is_full;
    int64_t watch_checked_ns; /* when all of them were last compared */
    uint64_t generation;      /* the interpreter's, at the last comparison */
    uint32_t epoch;           /* incremented when entries may have become invalid */
    struct text_builder name_text;
    struct text_builder file_text;
    unsigned char *bytes; /* for reads of several codes */
    size_t bytes_capacity;
    uint32_t *due; /* entries to be checked */
    size_t due_capacity;
    uint64_t replaced;  /* entries that turned out to be another function */
    bool refuses_ended; /* stacks with a frame at its end are invalid, see python_returns.h */
};

/* A frame as shown. */
struct python_frame {
    uint32_t function; /* number in python_functions */
    uint32_t line;     /* 0: unknown */
};

void python_code_cache_init(struct python_code_cache *cache);
void python_code_cache_release(struct python_code_cache *cache);
/* True if names and lines resolved in `epoch` are still valid. */
bool python_code_cache_holds(const struct python_code_cache *cache, uint32_t epoch, int64_t now_ns,
                             uint64_t generation);
/* Adds the watched codes to a batch if they are due. False: they are not in it. */
bool python_code_cache_plan(struct python_code_cache *cache, struct memory_batch *batch, int64_t now_ns,
                            size_t *at) MUST_CHECK;
/* Compares them after the batch was read. */
void python_code_cache_compare(struct python_code_cache *cache, const struct python_layout *layout,
                               const unsigned char *bytes, int64_t now_ns);
/* Names `count` frames, outermost first, one for one; hidden ones get NO_FUNCTION. `has_root`: the first one is the
 * outermost of its stack. `generation` is 0 before 3.14. False: a frame has no code object, or has ended, so the stack
 * is invalid. */
bool python_code_cache_resolve(struct python_code_cache *cache, const struct python_reader *reader,
                               struct python_functions *functions, const struct python_raw_frame *raw,
                               size_t count, bool has_root, int64_t now_ns, uint64_t generation,
                               struct python_frame *frames) MUST_CHECK;

#endif
