/*
 * protobuf_writer.h - appends the fields of a protobuf message to a text builder.
 *
 * Inline: a profile of a million samples has a hundred million of them.
 */
#ifndef FORMATS_PROTOBUF_WRITER_H
#define FORMATS_PROTOBUF_WRITER_H

#include <stddef.h>
#include <stdint.h>

#include "base/text_builder.h"
#include "base/text_view.h"

#define PROTOBUF_VARINT_BYTES 10

/* Returns how many bytes it took at `to`, which has room for PROTOBUF_VARINT_BYTES. */
static inline size_t protobuf_put_varint(char *to, uint64_t value)
{
    size_t size = 0;
    while (value >= 0x80) {
        to[size++] = (char)(value | 0x80);
        value >>= 7;
    }
    to[size++] = (char)value;
    return size;
}

static inline void protobuf_add_varint(struct text_builder *to, uint64_t value)
{
    char *room = text_builder_room(to, PROTOBUF_VARINT_BYTES);
    if (room != NULL)
        text_builder_took(to, protobuf_put_varint(room, value));
}

/* A field of value 0 is omitted. */
static inline void protobuf_add_number(struct text_builder *to, uint32_t field, uint64_t value)
{
    if (value == 0)
        return;
    protobuf_add_varint(to, (uint64_t)field << 3);
    protobuf_add_varint(to, value);
}

static inline void protobuf_add_bytes(struct text_builder *to, uint32_t field, struct text_view bytes)
{
    protobuf_add_varint(to, (uint64_t)field << 3 | 2);
    protobuf_add_varint(to, bytes.size);
    text_builder_add(to, bytes);
}

#endif
