#include "input/line_cache.h"

#include <stdlib.h>

#include "base/array.h"

#define MOST_ENTRIES ((size_t)LINE_CACHE_BYTES)

void line_cache_init(struct line_cache *cache)
{
    *cache = (struct line_cache){.entries = NULL};
    arena_init(&cache->arena, LINE_CACHE_BYTES);
}

void line_cache_release(struct line_cache *cache)
{
    arena_release(&cache->arena);
    free(cache->entries);
    hash_index_release(&cache->index);
    *cache = (struct line_cache){.entries = NULL};
}

static void forget(struct line_cache *cache)
{
    arena_reset(&cache->arena);
    hash_index_clear(&cache->index);
    cache->size = 0;
}

/* Room for the frames, where there are several, and the line. */
static char *copy(struct line_cache *cache, struct text_view line, const uint32_t *frames, size_t count)
{
    size_t frame_bytes = count > 1 ? count * sizeof(*frames) : 0;
    char *room = arena_allocate(&cache->arena, frame_bytes + line.size + 1);
    if (room == NULL)
        return NULL;
    if (frame_bytes > 0)
        memcpy(room, frames, frame_bytes);
    memcpy(room + frame_bytes, line.data, line.size);
    return room + frame_bytes;
}

const struct line_cache_entry *line_cache_add(struct line_cache *cache, struct text_view line, uint64_t hash,
                                              const uint32_t *frames, size_t count)
{
    if (!hash_index_reserve(&cache->index, 1) ||
        !array_reserve(&cache->entries, &cache->capacity, cache->size + 1, MOST_ENTRIES))
        return NULL;
    char *text = copy(cache, line, frames, count);
    if (text == NULL) {
        forget(cache);
        text = copy(cache, line, frames, count);
    }
    if (text == NULL)
        return NULL;
    struct line_cache_entry *entry = &cache->entries[cache->size];
    *entry =
        (struct line_cache_entry){text, (uint32_t)line.size, (uint16_t)count, count == 1 ? frames[0] : 0};
    hash_index_put(&cache->index, (uint32_t)hash, (uint32_t)cache->size++);
    return entry;
}

const uint32_t *line_cache_frames(const struct line_cache *cache, const struct line_cache_entry *entry)
{
    (void)cache;
    return (const uint32_t *)(const void *)(entry->text - entry->count * sizeof(uint32_t));
}
