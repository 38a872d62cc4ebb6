#include "jvm_agent/handler/place_cache.h"

#include <pthread.h>

#include "unit_test.h"

static struct safe_arena arena;

static void put(struct place_cache *cache, uintptr_t pc, bool interrupted, int32_t compilation,
                uint16_t count)
{
    struct place_facts facts = {
        .pc = pc, .owner = {0x1000, 0x2000, compilation}, .frame_words = compilation + 1};
    frame_word frames[PLACE_FRAMES + 1];
    for (size_t i = 0; i < PLACE_FRAMES + 1; i++)
        frames[i] = (uint64_t)compilation * 100 + i;
    facts.interrupted = interrupted;
    facts.frame_count = count;
    place_cache_put(cache, &facts, frames);
}

TEST(a_place_is_found_as_it_was_put)
{
    struct place_cache cache;
    struct place_facts facts;
    frame_word frames[PLACE_FRAMES];
    CHECK(place_cache_init(&cache, &arena));
    CHECK(!place_cache_find(&cache, 0x5000, false, &facts, frames, PLACE_FRAMES));
    put(&cache, 0x5000, false, 7, 3);
    CHECK(place_cache_find(&cache, 0x5000, false, &facts, frames, PLACE_FRAMES));
    CHECK_INT(facts.owner.compilation, 7);
    CHECK_INT(facts.frame_words, 8);
    CHECK_INT(facts.frame_count, 3);
    CHECK_INT(frames[2], 702);
    CHECK(!place_cache_find(&cache, 0x5000, true, &facts, frames, PLACE_FRAMES));
    CHECK(!place_cache_find(&cache, 0x5000, false, &facts, frames, 2)); /* no space for its frames */
    put(&cache, 0x5000, false, 8, 1);
    CHECK(place_cache_find(&cache, 0x5000, false, &facts, frames, PLACE_FRAMES));
    CHECK_INT(facts.owner.compilation, 8);
    put(&cache, 0x5000, false, 9, PLACE_FRAMES + 1); /* too many frames: the entry is unchanged */
    CHECK(place_cache_find(&cache, 0x5000, false, &facts, frames, PLACE_FRAMES));
    CHECK_INT(facts.owner.compilation, 8);
    place_cache_release(&cache);
}

static struct place_cache shared;

static void *put_and_find(void *context)
{
    struct place_facts facts;
    frame_word frames[PLACE_FRAMES];
    for (int i = 0; i < 200000; i++) {
        put(&shared, 0x7000, false, i % 50, PLACE_FRAMES);
        if (place_cache_find(&shared, 0x7000, false, &facts, frames, PLACE_FRAMES) &&
            frames[PLACE_FRAMES - 1] != (uint64_t)facts.owner.compilation * 100 + PLACE_FRAMES - 1)
            return context; /* parts of two entries */
    }
    return NULL;
}

TEST(threads_never_see_half_a_place)
{
    pthread_t threads[3];
    void *torn = NULL;
    CHECK(place_cache_init(&shared, &arena));
    for (int i = 0; i < 3; i++)
        CHECK(pthread_create(&threads[i], NULL, put_and_find, &shared) == 0);
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], &torn);
        CHECK(torn == NULL);
    }
    place_cache_release(&shared);
}
