/*
 * frame_section.h - the entries of .eh_frame and .debug_frame.
 *
 * Owns: nothing; entries point into the section.
 * Threads: one at a time for a section.
 */
#ifndef SYMBOLS_FRAME_SECTION_H
#define SYMBOLS_FRAME_SECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/text_view.h"

/* Reads forward; after the first read past the end all reads give 0 and failed is set. */
struct frame_cursor {
    const unsigned char *start, *at, *end;
    uint64_t address; /* as linked, of start */
    bool failed;
};

static inline uint64_t frame_cursor_fixed(struct frame_cursor *cursor, size_t size)
{
    uint64_t value = 0;
    if (cursor->failed || (size_t)(cursor->end - cursor->at) < size) {
        cursor->failed = true;
        return 0;
    }
    if (size == 1) /* nearly always */
        value = (uint8_t)*cursor->at;
    else
        memcpy(&value, cursor->at, size);
    cursor->at += size;
    return value;
}

uint64_t frame_cursor_unsigned(struct frame_cursor *cursor); /* ULEB128 */
int64_t frame_cursor_signed(struct frame_cursor *cursor);    /* SLEB128 */
/* A pointer in one of the DW_EH_PE encodings. */
uint64_t frame_cursor_encoded(struct frame_cursor *cursor, uint8_t encoding);
/* The next size bytes as a cursor of their own. */
struct frame_cursor frame_cursor_part(struct frame_cursor *cursor, uint64_t size);

/* What several functions' descriptions have in common (CIE). */
struct frame_common {
    uint64_t code_alignment;
    int64_t data_alignment;
    uint64_t return_register;
    uint8_t pointer_encoding;
    bool has_augmentation_data;
    bool is_signal;
    struct frame_cursor instructions;
};

struct frame_section {
    struct text_view data;
    uint64_t address;
    bool is_debug_frame;
    bool has_common; /* frame_section_next()'s: the one it read last, and where */
    uint64_t common_at;
    struct frame_common common;
};

/* What a function's description (FDE) and the part common to several (CIE) say. */
struct frame_entry {
    uint64_t start, size; /* of the code, as linked */
    uint64_t code_alignment;
    int64_t data_alignment;
    uint64_t return_register;
    bool is_signal;
    struct frame_cursor initial_instructions, instructions;
};

/* Reads the entry at *offset and moves on; *is_function: entry was filled (a CIE fills nothing). False at the end,
   and at damage. */
bool frame_section_next(struct frame_section *section, size_t *offset, struct frame_entry *entry,
                        bool *is_function);

#endif
