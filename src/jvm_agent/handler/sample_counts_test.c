#include "jvm_agent/handler/sample_counts.h"

#include <pthread.h>

#include "base/attributes.h"
#include "unit_test.h"

static struct safe_arena arena;
static struct sample_counts counts;

static struct agent_sample sample_of(uint32_t trace, int32_t tid)
{
    return (struct agent_sample){.trace = trace, .tid = tid, .weight = 2, .value = 10};
}

TEST(equal_samples_are_one_count)
{
    safe_arena_init(&arena, 4 << 20);
    CHECK(sample_counts_init(&counts, &arena, false));
    struct agent_sample first = sample_of(1, 5), second = sample_of(1, 6), third = sample_of(2, 5);
    struct agent_sample lock = sample_of(1, 5);
    lock.kind = SAMPLE_MONITOR;
    CHECK(sample_counts_add(&counts, &first) && sample_counts_add(&counts, &second));
    CHECK(sample_counts_add(&counts, &third) && sample_counts_add(&counts, &lock));
    CHECK_INT(sample_counts_number(&counts), 3);
    CHECK_INT(sample_counts_at(&counts, 1)->samples, 4);
    CHECK_INT(sample_counts_at(&counts, 1)->value, 20);
    CHECK_INT(sample_counts_at(&counts, 1)->tid, 0);
    CHECK_INT(sample_counts_at(&counts, 2)->trace, 2);
    CHECK_INT(sample_counts_at(&counts, 3)->kind, SAMPLE_MONITOR);
    sample_counts_release(&counts);
    CHECK_INT(arena.mapped_bytes, 0);
    safe_arena_release(&arena);
}

TEST(threads_are_told_apart_if_so_wished)
{
    safe_arena_init(&arena, 4 << 20);
    CHECK(sample_counts_init(&counts, &arena, true));
    struct agent_sample first = sample_of(1, 5), second = sample_of(1, 6);
    CHECK(sample_counts_add(&counts, &first) && sample_counts_add(&counts, &second));
    CHECK_INT(sample_counts_number(&counts), 2);
    CHECK_INT(sample_counts_at(&counts, 2)->tid, 6);
    sample_counts_release(&counts);
    safe_arena_release(&arena);
}

TEST(counts_without_room_are_dropped_and_counted)
{
    safe_arena_init(&arena, 128 << 10);
    CHECK(sample_counts_init(&counts, &arena, false));
    uint64_t refused = 0;
    for (uint32_t i = 1; i <= 10000; i++) {
        struct agent_sample sample = sample_of(i, 1);
        refused += !sample_counts_add(&counts, &sample);
    }
    CHECK(refused > 0 && refused < 10000);
    CHECK_INT(counts.dropped, refused * 2);
    struct agent_sample known = sample_of(1, 1);
    CHECK(sample_counts_add(&counts, &known));
    sample_counts_release(&counts);
    safe_arena_release(&arena);
}

#define STACKS 500u
#define ROUNDS 200u

static void *add_many(void *context)
{
    for (uint32_t i = 0; i < STACKS * ROUNDS; i++) {
        struct agent_sample sample = sample_of(1 + i % STACKS, 1);
        if (!sample_counts_add(&counts, &sample))
            return context;
    }
    return NULL;
}

TEST(no_sample_is_lost_between_threads)
{
    pthread_t threads[4];
    uint64_t samples = 0, value = 0, entries = 0;
    safe_arena_init(&arena, 16 << 20);
    CHECK(sample_counts_init(&counts, &arena, false));
    for (size_t i = 0; i < COUNT_OF(threads); i++)
        CHECK(pthread_create(&threads[i], NULL, add_many, threads) == 0);
    for (size_t i = 0; i < COUNT_OF(threads); i++) {
        void *failed = NULL;
        pthread_join(threads[i], &failed);
        CHECK(failed == NULL);
    }
    for (uint32_t i = 1; i <= sample_counts_number(&counts); i++) {
        entries += sample_counts_at(&counts, i)->samples > 0;
        samples += sample_counts_at(&counts, i)->samples;
        value += sample_counts_at(&counts, i)->value;
    }
    CHECK_INT(entries, STACKS);
    CHECK_INT(samples, COUNT_OF(threads) * STACKS * ROUNDS * 2);
    CHECK_INT(value, COUNT_OF(threads) * STACKS * ROUNDS * 10);
    sample_counts_release(&counts);
    safe_arena_release(&arena);
}
