/*
 * parquet_encoding.h - the encodings of values in a page of a Parquet file. Each appends to a builder, which notes when
 * memory is out.
 */
#ifndef FORMATS_PARQUET_ENCODING_H
#define FORMATS_PARQUET_ENCODING_H

#include <stddef.h>
#include <stdint.h>

#include "base/text_builder.h"
#include "base/text_view.h"

/* Numbers in 4 or 8 bytes, least significant first. */
void parquet_add_plain(struct text_builder *out, const int64_t *values, size_t count, size_t bytes);
/* A text after its size. */
void parquet_add_plain_text(struct text_builder *out, struct text_view text);
/* DELTA_BINARY_PACKED: differences in blocks of 128; `bytes` of the column's type, in which they wrap. */
void parquet_add_deltas(struct text_builder *out, const int64_t *values, size_t count, size_t bytes);
/* RLE: runs of equal numbers and groups of eight in `width` bits, at least 1 and at most 32. */
void parquet_add_runs(struct text_builder *out, const int64_t *values, size_t count, unsigned width);
/* DELTA_BYTE_ARRAY: what each text shares with the one before, and the rest. `lengths` is room for `count` numbers. */
void parquet_add_front_coded(struct text_builder *out, const struct text_view *texts, size_t count,
                             int64_t *lengths);
/* Bits that hold the number; at least 1. */
unsigned parquet_bit_width(uint64_t number);

#endif
