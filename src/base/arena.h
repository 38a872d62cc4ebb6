/*
 * arena.h - memory allocated piece by piece and freed at once.
 *
 * Owns: all its blocks, until arena_release().
 * Threads: one at a time.
 * Limit: limit_bytes; then arena_allocate() returns NULL.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text_view.h"

struct arena {
    struct arena_block *blocks; /* newest first */
    char *at;
    char *end;
    size_t used_bytes; /* of all blocks */
    size_t limit_bytes;
};

void arena_init(struct arena *arena, size_t limit_bytes);
void arena_release(struct arena *arena);
/* Frees all pieces; the arena stays usable. */
void arena_reset(struct arena *arena);
/* Aligned for any type, not zeroed. NULL at the limit or out of memory. */
void *arena_allocate(struct arena *arena, size_t size);
void *arena_allocate_zeroed(struct arena *arena, size_t size);
/* A copy that ends with a zero byte; data is NULL on failure. */
struct text_view arena_copy_text(struct arena *arena, struct text_view text);
char *arena_format(struct arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
