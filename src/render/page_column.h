/*
 * page_column.h - the numbers of the page's data part: varints, columns of them, and parts that carry their length.
 *
 * A text_builder that failed ignores further numbers, so callers check `failed` once.
 */
#ifndef RENDER_PAGE_COLUMN_H
#define RENDER_PAGE_COLUMN_H

#include <stdint.h>

#include "base/text_builder.h"

#define PAGE_VARINT_BYTES 10

/* Seven bits a byte, lowest first; the highest bit is set if more follow. */
static inline void page_varint(struct text_builder *to, uint64_t number)
{
    char *room = text_builder_room(to, PAGE_VARINT_BYTES);
    if (room == NULL)
        return;
    size_t size = 0;
    for (; number >= 128; number >>= 7)
        room[size++] = (char)(number | 128);
    room[size++] = (char)number;
    text_builder_took(to, size);
}

/* 0, -1, 1, -2, 2 become 0, 1, 2, 3, 4. */
static inline uint64_t page_zigzag(int64_t number)
{
    return ((uint64_t)number << 1) ^ (uint64_t)(number >> 63);
}

/* The length of `part`, then its bytes; `part` is emptied for the next one. */
static inline void page_part(struct text_builder *to, struct text_builder *part)
{
    page_varint(to, part->size);
    text_builder_add(to, text_builder_view(part));
    to->failed = to->failed || part->failed;
    text_builder_clear(part);
}

#endif
