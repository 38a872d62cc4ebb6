/*
 * jfr_bytes.h - reads JFR's encodings from memory: compressed integers, big-endian numbers, strings.
 *
 * A cursor that reads past its end sets `failed` and returns zeros from then on, so that callers may check once after
 * several reads.
 *
 * Owns: nothing.
 */
#ifndef JFR_JFR_BYTES_H
#define JFR_JFR_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/attributes.h"
#include "base/text_view.h"

struct jfr_cursor {
    const uint8_t *at;
    const uint8_t *end;
    bool failed;
};

/* How a string is written; the byte before it. */
enum jfr_string_encoding {
    JFR_STRING_NULL,
    JFR_STRING_EMPTY,
    JFR_STRING_CONSTANT, /* number in the pool of java.lang.String */
    JFR_STRING_UTF8,
    JFR_STRING_CHARACTERS, /* UTF-16 units as compressed integers */
    JFR_STRING_LATIN1,
};

static inline size_t jfr_left(const struct jfr_cursor *cursor)
{
    return (size_t)(cursor->end - cursor->at);
}

static inline bool jfr_fail(struct jfr_cursor *cursor)
{
    cursor->failed = true;
    cursor->at = cursor->end;
    return false;
}

static inline void jfr_skip(struct jfr_cursor *cursor, uint64_t size)
{
    if (size > jfr_left(cursor))
        (void)jfr_fail(cursor);
    else
        cursor->at += size;
}

static inline uint8_t jfr_byte(struct jfr_cursor *cursor)
{
    if (UNLIKELY(cursor->at == cursor->end)) {
        (void)jfr_fail(cursor);
        return 0;
    }
    return *cursor->at++;
}

/* Seven bits a byte, lowest first; a ninth byte holds eight. */
static inline uint64_t jfr_varint(struct jfr_cursor *cursor)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 56; shift += 7) {
        if (UNLIKELY(cursor->at == cursor->end)) {
            (void)jfr_fail(cursor);
            return 0;
        }
        uint8_t byte = *cursor->at++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (LIKELY(byte < 0x80))
            return value;
    }
    return value | (uint64_t)jfr_byte(cursor) << 56;
}

/* At least `count` bytes are left for `count` things of at least one byte each; else the cursor fails. */
static inline bool jfr_has_room_for(struct jfr_cursor *cursor, uint64_t count)
{
    return count <= jfr_left(cursor) || jfr_fail(cursor);
}

uint32_t jfr_fixed32(struct jfr_cursor *cursor);
uint64_t jfr_fixed64(struct jfr_cursor *cursor);
void jfr_skip_varints(struct jfr_cursor *cursor, uint64_t count);
void jfr_skip_string(struct jfr_cursor *cursor);
/* The string as UTF-8: a view of the bytes where they are that already, else made in the arena. For a string in the
 * pool its number is given, else *constant is 0. False: cut off, no such encoding, or out of memory. */
bool jfr_string(struct jfr_cursor *cursor, struct arena *arena, struct text_view *text,
                uint64_t *constant) MUST_CHECK;

#endif
