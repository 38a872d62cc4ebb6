#include "formats/line_cache.h"

#include <stdlib.h>

#define FIRST_ENTRIES 1024

void line_cache_init(struct line_cache *cache)
{
    *cache = (struct line_cache){.entries = NULL};
    arena_init(&cache->arena, LINE_CACHE_BYTES);
}

void line_cache_release(struct line_cache *cache)
{
    arena_release(&cache->arena);
    free(cache->entries);
    cache->entries = NULL;
}

static struct line_cache_entry *free_slot(const struct line_cache *cache, uint64_t hash)
{
    size_t slot = hash & cache->mask;
    while (cache->entries[slot].text != NULL)
        slot = (slot + 1) & cache->mask;
    return &cache->entries[slot];
}

static bool grow(struct line_cache *cache)
{
    struct line_cache old = *cache;
    size_t count = old.entries == NULL ? FIRST_ENTRIES : (old.mask + 1) * 2;
    cache->entries = calloc(count, sizeof(*cache->entries));
    if (cache->entries == NULL) {
        *cache = old;
        return false;
    }
    cache->mask = count - 1;
    for (size_t i = 0; old.entries != NULL && i <= old.mask; i++)
        if (old.entries[i].text != NULL)
            *free_slot(cache, old.entries[i].hash) = old.entries[i];
    free(old.entries);
    return true;
}

static void forget(struct line_cache *cache)
{
    arena_reset(&cache->arena);
    memset(cache->entries, 0, (cache->mask + 1) * sizeof(*cache->entries));
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
    if ((cache->entries == NULL || (cache->size + 1) * 2 > cache->mask + 1) && !grow(cache))
        return NULL;
    char *text = copy(cache, line, frames, count);
    if (text == NULL) {
        forget(cache);
        text = copy(cache, line, frames, count);
    }
    if (text == NULL)
        return NULL;
    struct line_cache_entry *entry = free_slot(cache, hash);
    *entry = (struct line_cache_entry){hash, text, (uint32_t)line.size, (uint16_t)count,
                                       count == 1 ? frames[0] : 0};
    cache->size++;
    return entry;
}

const uint32_t *line_cache_frames(const struct line_cache *cache, const struct line_cache_entry *entry)
{
    (void)cache;
    return (const uint32_t *)(const void *)(entry->text - entry->count * sizeof(uint32_t));
}
