/*
 * jfr_names.h - from the constants of a chunk to frames, stacks and contexts of the profile.
 *
 * Each constant is decoded at its first use, and cached for the chunk.
 *
 * Owns: its caches, until jfr_names_release().
 * Threads: one at a time.
 */
#ifndef FORMATS_JFR_NAMES_H
#define FORMATS_JFR_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attributes.h"
#include "base/error.h"
#include "base/id_map.h"
#include "base/text_builder.h"
#include "formats/jfr/jfr_chunk.h"
#include "formats/jfr/jfr_schema.h"
#include "formats/jfr/jfr_stacks.h"
#include "formats/reader.h"
#include "model/profile.h"

#define JFR_FRAME_TYPES 16

struct jfr_thread {
    uint32_t name; /* strings of the profile */
    uint32_t id;
    uint64_t key; /* the same for one thread in all chunks of a recording */
};

/* A frame as the stack trace has it, and its number in the profile. */
struct jfr_frame_slot {
    uint64_t method;
    uint32_t line;
    uint32_t type;
    uint32_t frame; /* NO_FRAME: free */
};

struct jfr_names {
    struct profile *profile;
    const struct jfr_chunk *chunk;
    const struct jfr_schema *schema;
    struct jfr_stacks *stacks; /* NULL: stacks are not asked for */
    uint64_t world;            /* of the chunk; see jfr_stacks.h */
    bool with_lines;
    bool joins_kinds;   /* of Java */
    struct arena arena; /* for strings that must be converted */
    struct text_builder text;
    struct jfr_frame_slot *frames;
    size_t frame_count;
    size_t frame_mask;
    enum frame_kind kinds[JFR_FRAME_TYPES];
    bool native_is_c; /* async-profiler: native frames are C functions, without a class */
    bool has_default_state;
    struct id_map classes; /* frames */
    struct id_map threads; /* index in thread_list */
    struct jfr_thread *thread_list;
    size_t thread_count;
    size_t thread_capacity;
    struct id_map states; /* strings */
};

/* With lines and the like as the options say; `stacks` NULL: without stacks. */
bool jfr_names_init(struct jfr_names *names, struct profile *profile, struct jfr_stacks *stacks,
                    const struct read_options *options, struct error *error) MUST_CHECK;
void jfr_names_release(struct jfr_names *names);
/* Forgets the chunk before. */
void jfr_names_begin(struct jfr_names *names, const struct jfr_chunk *chunk, const struct jfr_schema *schema);
/* The text of a symbol, string, state …; empty when there is none. Valid until the next chunk. */
struct text_view jfr_names_text(struct jfr_names *names, enum jfr_pool pool, uint64_t id);
/* The text of a string whose first byte is at `place`, as jfr_layout_read() gives it. */
struct text_view jfr_names_string_at(struct jfr_names *names, uint64_t place);
/* The frame of a stack trace. NO_FRAME: out of memory. */
uint32_t jfr_names_frame(struct jfr_names *names, uint64_t method, uint32_t line, uint32_t type) MUST_CHECK;
/* The frame of a class: "java.lang.String[]". NO_FRAME: out of memory. */
uint32_t jfr_names_class(struct jfr_names *names, uint64_t id) MUST_CHECK;
/* The index of the thread in thread_list; NO_ID: out of memory. */
uint32_t jfr_names_thread(struct jfr_names *names, uint64_t id) MUST_CHECK;
/* "runnable" for STATE_RUNNABLE, as string of the profile; 0 for none and for STATE_DEFAULT; NO_STRING: out of
 * memory. */
uint32_t jfr_names_state(struct jfr_names *names, uint64_t id) MUST_CHECK;

#endif
