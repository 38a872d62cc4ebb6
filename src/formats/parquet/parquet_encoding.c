#include "formats/parquet/parquet_encoding.h"

#include <string.h>

#include "formats/parquet/thrift_writer.h"

#define BLOCK_VALUES 128
#define MINIBLOCKS 4
#define MINIBLOCK_VALUES (BLOCK_VALUES / MINIBLOCKS)
#define GROUP 8

unsigned parquet_bit_width(uint64_t number)
{
    return number == 0 ? 1 : 64 - (unsigned)__builtin_clzll(number);
}

static void add_bytes(struct text_builder *out, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        text_builder_add_byte(out, (char)(value >> 8 * i));
}

void parquet_add_plain(struct text_builder *out, const int64_t *values, size_t count, size_t bytes)
{
    for (size_t i = 0; i < count; i++)
        add_bytes(out, (uint64_t)values[i], bytes);
}

void parquet_add_plain_text(struct text_builder *out, struct text_view text)
{
    add_bytes(out, text.size, 4);
    text_builder_add(out, text);
}

/* A multiple of eight numbers, each in `width` bits, the first in the lowest ones. */
static void add_packed(struct text_builder *out, const uint64_t *values, size_t count, unsigned width)
{
    __uint128_t waiting = 0;
    unsigned bits = 0;
    for (size_t i = 0; i < count; i++) {
        waiting |= (__uint128_t)values[i] << bits;
        for (bits += width; bits >= 8; bits -= 8) {
            text_builder_add_byte(out, (char)waiting);
            waiting >>= 8;
        }
    }
}

/* ---- differences ---- */

/* A difference in the column's type, which wraps. */
static int64_t difference(int64_t value, int64_t before, size_t bytes)
{
    uint64_t wrapped = (uint64_t)value - (uint64_t)before;
    return bytes == 4 ? (int32_t)(uint32_t)wrapped : (int64_t)wrapped;
}

/* At most BLOCK_VALUES differences. */
static void add_block(struct text_builder *out, const int64_t *deltas, size_t count, size_t bytes)
{
    uint64_t rest[BLOCK_VALUES] = {0}, mask = bytes == 4 ? UINT32_MAX : UINT64_MAX;
    int64_t minimum = deltas[0];
    for (size_t i = 1; i < count; i++)
        minimum = deltas[i] < minimum ? deltas[i] : minimum;
    for (size_t i = 0; i < count; i++)
        rest[i] = ((uint64_t)deltas[i] - (uint64_t)minimum) & mask;
    unsigned widths[MINIBLOCKS] = {0};
    for (size_t i = 0; i < count; i++) {
        unsigned *width = &widths[i / MINIBLOCK_VALUES], own = rest[i] == 0 ? 0 : parquet_bit_width(rest[i]);
        *width = own > *width ? own : *width;
    }
    thrift_add_zigzag(out, minimum);
    for (size_t i = 0; i < MINIBLOCKS; i++)
        text_builder_add_byte(out, (char)widths[i]);
    for (size_t i = 0; i < MINIBLOCKS; i++)
        if (widths[i] > 0)
            add_packed(out, rest + i * MINIBLOCK_VALUES, MINIBLOCK_VALUES, widths[i]);
}

/* Differences that all fit into a byte: one byte for each, since zstd finds repeats in whole bytes only. */
static void add_byte_block(struct text_builder *out, const int64_t *deltas, size_t count)
{
    size_t used = (count + MINIBLOCK_VALUES - 1) / MINIBLOCK_VALUES;
    thrift_add_zigzag(out, INT8_MIN);
    for (size_t i = 0; i < MINIBLOCKS; i++)
        text_builder_add_byte(out, i < used ? 8 : 0);
    for (size_t i = 0; i < used * MINIBLOCK_VALUES; i++)
        text_builder_add_byte(out, i < count ? (char)(deltas[i] - INT8_MIN) : 0);
}

static bool fit_into_bytes(const int64_t *deltas, size_t count)
{
    bool fit = true;
    for (size_t i = 0; fit && i < count; i++)
        fit = deltas[i] >= INT8_MIN && deltas[i] <= INT8_MAX;
    return fit;
}

static void add_deltas(struct text_builder *out, const int64_t *values, size_t count, size_t bytes,
                       bool whole_bytes)
{
    thrift_add_varint(out, BLOCK_VALUES);
    thrift_add_varint(out, MINIBLOCKS);
    thrift_add_varint(out, count);
    thrift_add_zigzag(out, count == 0 ? 0 : values[0]);
    for (size_t first = 1; first < count; first += BLOCK_VALUES) {
        int64_t deltas[BLOCK_VALUES];
        size_t size = count - first < BLOCK_VALUES ? count - first : BLOCK_VALUES;
        for (size_t i = 0; i < size; i++)
            deltas[i] = difference(values[first + i], values[first + i - 1], bytes);
        if (whole_bytes && fit_into_bytes(deltas, size))
            add_byte_block(out, deltas, size);
        else
            add_block(out, deltas, size, bytes);
    }
}

void parquet_add_deltas(struct text_builder *out, const int64_t *values, size_t count, size_t bytes)
{
    add_deltas(out, values, count, bytes, false);
}

/* ---- runs ---- */

static void add_groups(struct text_builder *out, const int64_t *values, size_t count, unsigned width)
{
    size_t groups = (count + GROUP - 1) / GROUP;
    if (groups == 0)
        return;
    thrift_add_varint(out, groups << 1 | 1);
    for (size_t i = 0; i < groups; i++) {
        uint64_t group[GROUP] = {0};
        for (size_t j = 0; j < GROUP && i * GROUP + j < count; j++)
            group[j] = (uint64_t)values[i * GROUP + j];
        add_packed(out, group, GROUP, width);
    }
}

void parquet_add_runs(struct text_builder *out, const int64_t *values, size_t count, unsigned width)
{
    size_t pending = 0, at = 0;
    while (at < count) {
        size_t end = at + 1;
        while (end < count && values[end] == values[at])
            end++;
        /* Groups that wait are filled first. */
        size_t missing = (GROUP - (at - pending) % GROUP) % GROUP;
        if (end - at >= missing + GROUP) {
            at += missing;
            add_groups(out, values + pending, at - pending, width);
            thrift_add_varint(out, (uint64_t)(end - at) << 1);
            add_bytes(out, (uint64_t)values[at], (width + 7) / 8);
            pending = end;
        }
        at = end;
    }
    add_groups(out, values + pending, count - pending, width);
}

/* ---- texts ---- */

static size_t shared(struct text_view left, struct text_view right)
{
    size_t size = left.size < right.size ? left.size : right.size, at = 0;
    while (at < size && left.data[at] == right.data[at])
        at++;
    return at;
}

static size_t shared_before(const struct text_view *texts, size_t index)
{
    return index == 0 ? 0 : shared(texts[index - 1], texts[index]);
}

void parquet_add_front_coded(struct text_builder *out, const struct text_view *texts, size_t count,
                             int64_t *lengths)
{
    for (size_t i = 0; i < count; i++)
        lengths[i] = (int64_t)shared_before(texts, i);
    add_deltas(out, lengths, count, 4, true);
    for (size_t i = 0; i < count; i++)
        lengths[i] = (int64_t)(texts[i].size - shared_before(texts, i));
    add_deltas(out, lengths, count, 4, true);
    for (size_t i = 0; i < count; i++)
        text_builder_add(out, text_from(texts[i], shared_before(texts, i)));
}
