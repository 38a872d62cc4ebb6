/*
 * thrift_writer.h - writes structs in Thrift's compact protocol, as Parquet's headers and footer are.
 *
 * Fields of a struct are added in the order of their numbers, between thrift_begin() and thrift_end(). Members of
 * lists are added by the functions without a field.
 *
 * Owns: nothing; the builder is the caller's and notes when memory is out.
 */
#ifndef FORMATS_THRIFT_WRITER_H
#define FORMATS_THRIFT_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text_builder.h"

#define THRIFT_DEPTH_LIMIT 16

enum thrift_type {
    THRIFT_TRUE = 1,
    THRIFT_FALSE = 2,
    THRIFT_I32 = 5,
    THRIFT_I64 = 6,
    THRIFT_BINARY = 8,
    THRIFT_LIST = 9,
    THRIFT_STRUCT = 12,
};

struct thrift_writer {
    struct text_builder *out;
    int last[THRIFT_DEPTH_LIMIT]; /* number of the last field of each open struct */
    size_t depth;
};

void thrift_init(struct thrift_writer *writer, struct text_builder *out);
/* A struct that is the whole, or a member of a list. */
void thrift_begin(struct thrift_writer *writer);
void thrift_end(struct thrift_writer *writer);
void thrift_field_bool(struct thrift_writer *writer, int field, bool value);
void thrift_field_i32(struct thrift_writer *writer, int field, int32_t value);
void thrift_field_i64(struct thrift_writer *writer, int field, int64_t value);
void thrift_field_text(struct thrift_writer *writer, int field, struct text_view text);
/* Ends with thrift_end(). */
void thrift_field_struct(struct thrift_writer *writer, int field);
void thrift_field_list(struct thrift_writer *writer, int field, enum thrift_type type, size_t count);
void thrift_i32(struct thrift_writer *writer, int32_t value);
void thrift_text(struct thrift_writer *writer, struct text_view text);

/* Unsigned LEB128, and the same of a signed number with its sign in the lowest bit. */
void thrift_add_varint(struct text_builder *out, uint64_t value);
void thrift_add_zigzag(struct text_builder *out, int64_t value);

#endif
