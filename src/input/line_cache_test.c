#include "input/line_cache.h"

#include <stdio.h>

#include "unit_test.h"

static struct text_view numbered(char *room, size_t size, uint32_t number)
{
    return (struct text_view){room, (size_t)snprintf(room, size, "line %u", number)};
}

TEST(finds_what_was_added)
{
    struct line_cache cache;
    char room[32];
    line_cache_init(&cache);
    for (uint32_t i = 0; i < 5000; i++) {
        struct text_view line = numbered(room, sizeof(room), i);
        CHECK(line_cache_find(&cache, line, line_cache_hash(line)) == NULL);
        CHECK(line_cache_add(&cache, line, line_cache_hash(line), &i, 1) != NULL);
    }
    for (uint32_t i = 0; i < 5000; i++) {
        struct text_view line = numbered(room, sizeof(room), i);
        CHECK_INT(line_cache_find(&cache, line, line_cache_hash(line))->frame, i);
    }
    line_cache_release(&cache);
}

TEST(keeps_several_frames_and_none)
{
    struct line_cache cache;
    uint32_t frames[] = {7, 8, 9};
    line_cache_init(&cache);
    CHECK(line_cache_add(&cache, TEXT("three"), 1, frames, 3) != NULL);
    CHECK(line_cache_add(&cache, TEXT("none"), 1, frames, 0) != NULL);
    const struct line_cache_entry *entry = line_cache_find(&cache, TEXT("three"), 1);
    CHECK_INT(entry->count, 3);
    CHECK_INT(line_cache_frames(&cache, entry)[2], 9);
    CHECK_INT(line_cache_find(&cache, TEXT("none"), 1)->count, 0);
    line_cache_release(&cache);
}

TEST(tells_lines_of_one_hash_apart)
{
    struct line_cache cache;
    uint32_t first = 1, second = 2;
    line_cache_init(&cache);
    CHECK(line_cache_add(&cache, TEXT("aaa"), 5, &first, 1) != NULL);
    CHECK(line_cache_find(&cache, TEXT("bbb"), 5) == NULL);
    CHECK(line_cache_add(&cache, TEXT("bbb"), 5, &second, 1) != NULL);
    CHECK_INT(line_cache_find(&cache, TEXT("aaa"), 5)->frame, 1);
    CHECK_INT(line_cache_find(&cache, TEXT("bbb"), 5)->frame, 2);
    line_cache_release(&cache);
}

TEST(forgets_at_its_limit)
{
    struct line_cache cache;
    uint32_t frame = 1;
    line_cache_init(&cache);
    cache.arena.limit_bytes = (size_t)256 << 10;
    char room[32];
    for (uint32_t i = 0; i < 50000; i++) {
        struct text_view line = numbered(room, sizeof(room), i);
        CHECK(line_cache_add(&cache, line, line_cache_hash(line), &frame, 1) != NULL);
    }
    CHECK(cache.size < 50000);
    line_cache_release(&cache);
}
