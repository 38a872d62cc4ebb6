/*
 * unpacker.h - decompresses gzip, zstd, lz4 (frames, and lz4-java's blocks) and snappy-java's streams, piece by
 * piece; members that follow one another are one text.
 *
 * Owns: the state of the decoder, until unpacker_free().
 * Threads: one at a time.
 */
#ifndef INPUT_UNPACKER_H
#define INPUT_UNPACKER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/text_view.h"

enum packing {
    PACKING_NONE,
    PACKING_GZIP,
    PACKING_ZSTD,
    PACKING_LZ4,
    PACKING_LZ4_BLOCKS,
    PACKING_SNAPPY,
    PACKING_LZF,
};

struct unpacker;

/* By the first bytes; eight are enough. */
enum packing packing_of(struct text_view head);
/* "gzip", "zstd", "lz4", "snappy", "lzf" or "plain". */
const char *packing_name(enum packing packing);
/* NULL with *error set. */
struct unpacker *unpacker_new(enum packing packing, struct error *error) MUST_CHECK;
void unpacker_free(struct unpacker *unpacker);
/* Takes what it can from the front of *input and writes at most `room` bytes to `to`; *made is their number. If
 * nothing is made and nothing taken, it needs more input. False: the data is damaged. */
bool unpacker_run(struct unpacker *unpacker, struct text_view *input, char *to, size_t room, size_t *made,
                  struct error *error) MUST_CHECK;
/* True when the input may end here: not inside a member. */
bool unpacker_at_end(const struct unpacker *unpacker);
/* Decompresses gzip data in memory to a new block that the caller frees. False: damaged, or over `limit` bytes.
 * Several times as fast as unpacker_run(). */
bool unpack_gzip_whole(struct text_view packed, size_t limit, char **data, size_t *size,
                       struct error *error) MUST_CHECK;

#endif
