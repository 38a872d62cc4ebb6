/*
 * python_code_cache.h - what is known of the code objects of one process: function and line table.
 *
 * A code object may be freed and another one take its place, name strings included. So what is known is compared with
 * the target again and again: never later than PYTHON_CODE_TRUST_NS after the last time, for all codes of a stack in
 * one read; from 3.14 on only when the interpreter says that it has freed code.
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
    uint32_t function; /* NO_FUNCTION: no Python code of a user, not shown */
    bool is_generator; /* up to 3.10 */
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
/* Names the frames of a stack, innermost first; hidden ones are left out. `frames` has room for all. `generation` is
 * 0 before 3.14. False: some frame is no code object, so the stack is not to be trusted. */
bool python_code_cache_resolve(struct python_code_cache *cache, const struct python_reader *reader,
                               struct python_functions *functions, const struct python_raw_frame *raw,
                               size_t count, int64_t now_ns, uint64_t generation, struct python_frame *frames,
                               size_t *frame_count) MUST_CHECK;

#endif
