#include "formats/parquet/thrift_writer.h"

#include <assert.h>

void thrift_add_varint(struct text_builder *out, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        text_builder_add_byte(out, (char)(value | 0x80));
    text_builder_add_byte(out, (char)value);
}

void thrift_add_zigzag(struct text_builder *out, int64_t value)
{
    thrift_add_varint(out, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

void thrift_init(struct thrift_writer *writer, struct text_builder *out)
{
    *writer = (struct thrift_writer){.out = out};
}

void thrift_begin(struct thrift_writer *writer)
{
    assert(writer->depth < THRIFT_DEPTH_LIMIT);
    writer->last[writer->depth++] = 0;
}

void thrift_end(struct thrift_writer *writer)
{
    text_builder_add_byte(writer->out, 0);
    writer->depth--;
}

static void add_field(struct thrift_writer *writer, int field, enum thrift_type type)
{
    int *last = &writer->last[writer->depth - 1];
    assert(field > *last && field - *last < 16);
    text_builder_add_byte(writer->out, (char)((field - *last) << 4 | (int)type));
    *last = field;
}

void thrift_field_bool(struct thrift_writer *writer, int field, bool value)
{
    add_field(writer, field, value ? THRIFT_TRUE : THRIFT_FALSE);
}

void thrift_field_i32(struct thrift_writer *writer, int field, int32_t value)
{
    add_field(writer, field, THRIFT_I32);
    thrift_add_zigzag(writer->out, value);
}

void thrift_field_i64(struct thrift_writer *writer, int field, int64_t value)
{
    add_field(writer, field, THRIFT_I64);
    thrift_add_zigzag(writer->out, value);
}

void thrift_field_text(struct thrift_writer *writer, int field, struct text_view text)
{
    add_field(writer, field, THRIFT_BINARY);
    thrift_text(writer, text);
}

void thrift_field_struct(struct thrift_writer *writer, int field)
{
    add_field(writer, field, THRIFT_STRUCT);
    thrift_begin(writer);
}

void thrift_field_list(struct thrift_writer *writer, int field, enum thrift_type type, size_t count)
{
    add_field(writer, field, THRIFT_LIST);
    if (count < 15) {
        text_builder_add_byte(writer->out, (char)(count << 4 | (size_t)type));
        return;
    }
    text_builder_add_byte(writer->out, (char)(0xf0 | (int)type));
    thrift_add_varint(writer->out, count);
}

void thrift_i32(struct thrift_writer *writer, int32_t value)
{
    thrift_add_zigzag(writer->out, value);
}

void thrift_text(struct thrift_writer *writer, struct text_view text)
{
    thrift_add_varint(writer->out, text.size);
    text_builder_add(writer->out, text);
}
