/*
 * jfr_traces.h - resolves the stack traces of a chunk that its samples use to stacks.
 *
 * Traces are most of a recording's bytes. First the wanted numbers are collected, then the pools of traces are read
 * once, in file order, so that each is in the cache when it is hashed and parsed. Traces that another thread is
 * parsing are looked up later.
 *
 * Owns: its tables, until jfr_traces_release().
 * Threads: one at a time; what threads share is in jfr_stacks.
 */
#ifndef FORMATS_JFR_TRACES_H
#define FORMATS_JFR_TRACES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/id_map.h"
#include "formats/jfr/jfr_names.h"

#define JFR_KNOWN_BITS 12
#define JFR_KNOWN_FRAMES (1 << JFR_KNOWN_BITS)

/* A frame's bytes in a trace, sixteen at most, and its number in the profile; NO_FRAME: free. */
struct jfr_known_frame {
    uint64_t bytes[2];
    uint32_t frame;
};

/* The same for those of eight bytes at most. No frame has JFR_NO_BYTES, since none of its integers would end. */
struct jfr_known_short_frame {
    uint64_t bytes;
    uint32_t frame;
};
#define JFR_NO_BYTES UINT64_MAX

struct jfr_traces {
    struct jfr_names *names;
    struct id_map numbers;   /* of stacks, by the numbers of traces */
    struct id_map constants; /* frames, by their numbers in the chunk */
    struct jfr_known_frame known[JFR_KNOWN_FRAMES];
    struct jfr_known_short_frame known_short[JFR_KNOWN_FRAMES];
    uint8_t *drafts; /* codes of stacks that are not in the list yet */
    size_t draft_size;
    size_t draft_capacity;
    struct jfr_trace *deferred; /* traces that others have claimed */
    size_t deferred_count;
    size_t deferred_capacity;
    uint64_t world;      /* that `known` is of */
    uint64_t cut_stacks; /* over the limit of depth */
};

void jfr_traces_init(struct jfr_traces *traces, struct jfr_names *names);
void jfr_traces_release(struct jfr_traces *traces);
/* Starts a new chunk; names must already be set to it. */
void jfr_traces_begin(struct jfr_traces *traces);
/* False: out of memory. */
bool jfr_traces_ask(struct jfr_traces *traces, const uint64_t *ids, size_t count) MUST_CHECK;
/* Reads all requested traces. */
bool jfr_traces_read(struct jfr_traces *traces, struct error *error) MUST_CHECK;
/* The stack of a requested trace, in names->stacks; NO_STACK: not found. */
uint32_t jfr_traces_stack(const struct jfr_traces *traces, uint64_t id);

#endif
