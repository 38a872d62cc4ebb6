/*
 * frame_table.h - interns frames: equal frames get the same number.
 *
 * A frame is a name as in folded text (`pkg/Class.method`, `function`, `module.function`), file and line if known,
 * and the kind of code. Frames that differ in any of these are different.
 *
 * Owns: its frames, until frame_table_release(). Strings are numbers of the profile's string table.
 * Threads: one at a time.
 */
#ifndef MODEL_FRAME_TABLE_H
#define MODEL_FRAME_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/hash_index.h"
#include "base/text_view.h"

#define NO_FRAME UINT32_MAX

enum frame_kind {
    FRAME_UNKNOWN, /* the file did not say */
    FRAME_INTERPRETED,
    FRAME_C1,       /* Java, compiled by the quick compiler */
    FRAME_COMPILED, /* Java, compiled (C2, or unknown which) */
    FRAME_INLINED,  /* Java, inlined into its caller */
    FRAME_NATIVE,
    FRAME_CPP,
    FRAME_KERNEL,
    FRAME_PYTHON,
    FRAME_C_EXTENSION, /* called from Python */
    FRAME_CLASS,       /* an allocated or locked class as innermost frame */
    FRAME_GROUP,       /* no code: a thread, stage, state … as outermost frame */
};
#define FRAME_KIND_COUNT 12

struct frame {
    uint32_t name;
    uint32_t file; /* 0: unknown */
    uint32_t line; /* 0: unknown */
    uint32_t kind; /* enum frame_kind */
};

struct frame_table {
    struct frame *frames;
    size_t size;
    size_t capacity;
    struct hash_index index;
};

void frame_table_init(struct frame_table *table);
void frame_table_release(struct frame_table *table);
/* The frame's number; NO_FRAME: out of memory. */
uint32_t frame_table_add(struct frame_table *table, struct frame frame) MUST_CHECK;

/* "interpreted", "kernel" … */
const char *frame_kind_name(enum frame_kind kind);
/* The kind's suffix in folded text, such as "_[j]"; "" if none. */
const char *frame_kind_suffix(enum frame_kind kind);
/* Removes a known kind suffix from *name. FRAME_UNKNOWN: there is none. */
enum frame_kind frame_kind_of_suffix(struct text_view *name);
bool frame_kind_is_java(enum frame_kind kind);

#endif
