/*
 * jfr_put.h - numbers and strings as JFR writes them, appended to a text_builder.
 */
#ifndef JFR_JFR_PUT_H
#define JFR_JFR_PUT_H

#include <stdint.h>
#include <string.h>

#include "base/text_builder.h"
#include "jfr/jfr_bytes.h"

#define JFR_STRING_LIMIT_BYTES 8191

/* Seven bits per byte, lowest first; the ninth byte holds eight. */
static inline void jfr_put_number(struct text_builder *bytes, uint64_t value)
{
    char *at = text_builder_room(bytes, 9);
    size_t used = 0;
    if (at == NULL)
        return;
    while (value > 0x7f && used < 8) {
        at[used++] = (char)(value | 0x80);
        value >>= 7;
    }
    at[used++] = (char)value;
    text_builder_took(bytes, used);
}

static inline void jfr_put_byte(struct text_builder *bytes, uint8_t value)
{
    text_builder_add_byte(bytes, (char)value);
}

static inline void jfr_put_big_endian(struct text_builder *bytes, uint64_t value, int size)
{
    while (size-- > 0)
        text_builder_add_byte(bytes, (char)(value >> (8 * size)));
}

static inline void jfr_put_float(struct text_builder *bytes, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    jfr_put_big_endian(bytes, bits, 4);
}

/* UTF-8, inline (encoding 3); longer strings are truncated. */
static inline void jfr_put_string(struct text_builder *bytes, struct text_view text)
{
    jfr_put_byte(bytes, JFR_STRING_UTF8);
    jfr_put_number(bytes, text.size);
    text_builder_add(bytes, text);
}

/* The same; longer ones are cut. */
static inline void jfr_put_text(struct text_builder *bytes, struct text_view text)
{
    jfr_put_string(bytes, text_part(text, 0, JFR_STRING_LIMIT_BYTES));
}

/* An event begins with its size, which is known at its end: one byte is kept free for it, as nearly all events need. */
static inline size_t jfr_event_begin(struct text_builder *bytes, uint32_t type)
{
    size_t begin = bytes->size;
    jfr_put_byte(bytes, 0);
    jfr_put_number(bytes, type);
    return begin;
}

/* The size includes its own bytes; the content of a longer event is moved by three bytes. */
static inline void jfr_event_end(struct text_builder *bytes, size_t begin)
{
    size_t size = bytes->size - begin;
    if (size > 0x7f && text_builder_room(bytes, 3) != NULL) {
        memmove(bytes->data + begin + 4, bytes->data + begin + 1, size - 1);
        text_builder_took(bytes, 3);
        size += 3;
    }
    if (bytes->failed)
        return;
    if (size <= 0x7f) {
        bytes->data[begin] = (char)size;
        return;
    }
    for (int i = 0; i < 3; i++)
        bytes->data[begin + (size_t)i] = (char)((size >> (7 * i) & 0x7f) | 0x80);
    bytes->data[begin + 3] = (char)(size >> 21 & 0x7f);
}

#endif
