/*
 * byte_source.h - the bytes of a file, of standard input ("-") or of memory, decompressed if they are gzip, zstd or
 * lz4.
 *
 * Plain files are mapped when that helps; the rest streams through one buffer.
 *
 * Owns: its descriptor, map and buffers, until byte_source_close().
 * Threads: one at a time; a mapped view may be read by several.
 * Limit: a compressed file that decompresses to more than BYTE_SOURCE_BOMB_RATIO times its size, and more than
 * BYTE_SOURCE_BOMB_BYTES, is an error.
 */
#ifndef INPUT_BYTE_SOURCE_H
#define INPUT_BYTE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/text_view.h"

#define BYTE_SOURCE_BOMB_RATIO 2000
#define BYTE_SOURCE_BOMB_BYTES ((uint64_t)4 << 30)

struct byte_source;

/* NULL with *error set. */
struct byte_source *byte_source_open(const char *path, struct error *error) MUST_CHECK;
/* The bytes stay the caller's. Decompresses them if they are compressed. */
struct byte_source *byte_source_open_memory(struct text_view bytes, const char *name,
                                            struct error *error) MUST_CHECK;
void byte_source_close(struct byte_source *source);
/* As given to open; "standard input" for "-". */
const char *byte_source_name(const struct byte_source *source);
/* Offset of the next byte, after decompression. */
uint64_t byte_source_position(const struct byte_source *source);
/* The next bytes, at least `wanted` unless the end comes first; they stay unread. Valid until the next call. An error
 * sets *error and returns the bytes before it, once; then an empty view. */
struct text_view byte_source_peek(struct byte_source *source, size_t wanted, struct error *error);
/* Skips bytes that were peeked at. */
void byte_source_skip(struct byte_source *source, size_t size);
/* True after an error of peek. */
bool byte_source_failed(const struct byte_source *source);
/* All bytes that are left, in one piece: mapped for plain files, else read into memory, at most `limit` (then false).
 * Valid until close. */
bool byte_source_all(struct byte_source *source, size_t limit, struct text_view *all,
                     struct error *error) MUST_CHECK;
/* Releases the memory of these bytes of byte_source_all(); they may still be read again. Safe from several threads. */
void byte_source_drop(const struct byte_source *source, struct text_view bytes);
/* Drops `next`, which follows what was gathered before, when `enough` bytes have come together: each drop interrupts
 * the other threads. Begin with an empty view; what is left in it at the end may be dropped by byte_source_drop(). */
void byte_source_drop_later(const struct byte_source *source, struct text_view *gathered,
                            struct text_view next, size_t enough);
/* True if byte_source_all() maps the file, without using memory. */
bool byte_source_is_mapped(const struct byte_source *source);

#endif
