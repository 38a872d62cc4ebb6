/*
 * line_cache.h - caches the frames of a line of text, so that each distinct line is parsed once.
 *
 * Owns: copies of the lines, until line_cache_release().
 * Threads: one at a time.
 * Limit: LINE_CACHE_BYTES; then the cache is cleared.
 */
#ifndef INPUT_LINE_CACHE_H
#define INPUT_LINE_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attributes.h"
#include "base/hash.h"
#include "base/hash_index.h"
#include "base/text_view.h"

#define LINE_CACHE_BYTES ((size_t)128 << 20)
/* Maximum number of frames of a line. */
#define LINE_CACHE_FRAMES 64

struct line_cache_entry {
    const char *text; /* its frames stand before it when there are more than one */
    uint32_t size;
    uint16_t count;
    uint32_t frame; /* the one, when count is 1 */
};

struct line_cache {
    struct arena arena;
    struct line_cache_entry *entries;
    size_t size;
    size_t capacity;
    struct hash_index index;
};

void line_cache_init(struct line_cache *cache);
void line_cache_release(struct line_cache *cache);
/* NULL: out of memory. Valid until the next call. */
const struct line_cache_entry *line_cache_add(struct line_cache *cache, struct text_view line, uint64_t hash,
                                              const uint32_t *frames, size_t count) MUST_CHECK;
/* Outermost first, when the entry has several. */
const uint32_t *line_cache_frames(const struct line_cache *cache, const struct line_cache_entry *entry);

static inline uint64_t line_cache_hash(struct text_view line)
{
    return hash_bytes(line.data, line.size);
}

/* NULL when the line is not known. */
static inline const struct line_cache_entry *line_cache_find(const struct line_cache *cache,
                                                             struct text_view line, uint64_t hash)
{
    size_t slot;
    uint32_t number = hash_index_first(&cache->index, (uint32_t)hash, &slot);
    for (; number != NO_ITEM; number = hash_index_next(&cache->index, (uint32_t)hash, &slot)) {
        const struct line_cache_entry *entry = &cache->entries[number];
        if (entry->size == line.size && memcmp(entry->text, line.data, line.size) == 0)
            return entry;
    }
    return NULL;
}

#endif
