/*
 * block_unpacker.h - decompresses the block formats of Spark's event logs: lz4-java's "LZ4Block", snappy-java's
 * stream, and LZF's chunks. Each block is read completely, then decompressed.
 *
 * libsnappy, a C++ library, is loaded for the first snappy block.
 *
 * Owns: a compressed and a decompressed block, until block_unpacker_release().
 * Threads: one at a time.
 * Limit: BLOCK_LIMIT_BYTES for a block, compressed or not.
 */
#ifndef INPUT_BLOCK_UNPACKER_H
#define INPUT_BLOCK_UNPACKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/text_builder.h"
#include "base/text_view.h"

#define BLOCK_LIMIT_BYTES ((size_t)64 << 20)

enum block_format { BLOCKS_LZ4, BLOCKS_SNAPPY, BLOCKS_LZF };

struct block_unpacker {
    enum block_format format;
    struct text_builder packed; /* of the block at hand: header and bytes so far */
    char *raw;
    size_t raw_capacity;
    size_t raw_size;
    size_t raw_at; /* what was handed out of it */
};

void block_unpacker_init(struct block_unpacker *unpacker, enum block_format format);
void block_unpacker_release(struct block_unpacker *unpacker);
/* As unpacker_run(). */
bool block_unpacker_run(struct block_unpacker *unpacker, struct text_view *input, char *to, size_t room,
                        size_t *made, struct error *error) MUST_CHECK;
/* True between blocks. */
bool block_unpacker_at_end(const struct block_unpacker *unpacker);

#endif
