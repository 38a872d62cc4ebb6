#include "jvm_agent/handler/sampler.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "unit_test.h"

TEST(equal_stacks_have_one_number)
{
    struct safe_arena arena;
    struct trace_table table;
    safe_arena_init(&arena, 64 << 20);
    CHECK(trace_table_init(&table, &arena));
    frame_word first[] = {1, 2, 3}, second[] = {1, 2, 4};
    uint32_t one = trace_table_add(&table, first, 3);
    CHECK_INT(one, 1);
    CHECK_INT(trace_table_add(&table, second, 3), 2);
    CHECK_INT(trace_table_add(&table, first, 3), 1);
    CHECK_INT(trace_table_add(&table, first, 2), 3);
    const struct trace *trace = trace_table_at(&table, 2);
    CHECK_INT(trace->depth, 3);
    CHECK_INT(trace->frames[2], 4);
    trace_table_release(&table);
    safe_arena_release(&arena);
    CHECK_INT(arena.mapped_bytes, 0);
}

TEST(a_full_table_refuses_and_counts)
{
    struct safe_arena arena;
    struct trace_table table;
    safe_arena_init(&arena, 2 << 20);
    CHECK(trace_table_init(&table, &arena));
    frame_word frames[1000] = {0};
    uint32_t added = 0;
    for (uint64_t i = 0; i < 1000; i++) {
        frames[0] = i;
        added += trace_table_add(&table, frames, 1000) != 0;
    }
    CHECK(added > 50 && added < 300);
    CHECK(arena.refused > 0);
    CHECK(arena.mapped_bytes <= 2 << 20);
    trace_table_release(&table);
    safe_arena_release(&arena);
}

static struct safe_arena shared_arena;
static struct trace_table shared_table;

static void *add_many(void *context)
{
    for (uint64_t i = 0; i < 20000; i++) {
        frame_word frames[] = {i % 5000, 7};
        uint32_t number = trace_table_add(&shared_table, frames, 2);
        if (number == 0 || trace_table_at(&shared_table, number)->frames[0] != i % 5000)
            return context;
    }
    return NULL;
}

TEST(threads_add_the_same_stacks_at_once)
{
    pthread_t threads[4];
    safe_arena_init(&shared_arena, 64 << 20);
    CHECK(trace_table_init(&shared_table, &shared_arena));
    for (size_t i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, add_many, threads) == 0);
    for (size_t i = 0; i < 4; i++) {
        void *failed = NULL;
        pthread_join(threads[i], &failed);
        CHECK(failed == NULL);
    }
    frame_word frames[] = {42, 7};
    uint32_t number = trace_table_add(&shared_table, frames, 2);
    CHECK_INT(trace_table_add(&shared_table, frames, 2), number);
    trace_table_release(&shared_table);
    safe_arena_release(&shared_arena);
}

TEST(the_ring_keeps_order_and_counts_what_it_drops)
{
    struct sample_ring ring;
    struct agent_sample sample = {0};
    CHECK(sample_ring_init(&ring));
    CHECK(!sample_ring_take(&ring, &sample));
    for (uint64_t i = 0; i < SAMPLE_RING_SLOTS + 10; i++) {
        sample.value = i;
        CHECK(sample_ring_put(&ring, &sample) == (i < SAMPLE_RING_SLOTS));
    }
    CHECK_INT(ring.dropped, 10);
    for (uint64_t i = 0; i < SAMPLE_RING_SLOTS; i++) {
        CHECK(sample_ring_take(&ring, &sample));
        CHECK_INT(sample.value, i);
    }
    CHECK(!sample_ring_take(&ring, &sample));
    CHECK(sample_ring_put(&ring, &sample));
    CHECK(sample_ring_take(&ring, &sample));
    sample_ring_release(&ring);
}

static struct sample_ring shared_ring;

static void *put_many(void *context)
{
    struct agent_sample sample = {.tid = (int32_t)(intptr_t)context};
    for (uint64_t i = 0; i < 50000;) {
        sample.value = i;
        i += sample_ring_put(&shared_ring, &sample);
    }
    return NULL;
}

TEST(the_ring_takes_from_several_threads)
{
    pthread_t threads[3];
    uint64_t next[3] = {0}, taken = 0;
    struct agent_sample sample;
    CHECK(sample_ring_init(&shared_ring));
    for (size_t i = 0; i < 3; i++)
        CHECK(pthread_create(&threads[i], NULL, put_many, (void *)(intptr_t)i) == 0);
    while (taken < 150000)
        if (sample_ring_take(&shared_ring, &sample)) {
            CHECK_INT(sample.value, next[sample.tid]);
            next[sample.tid]++;
            taken++;
        }
    for (size_t i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    sample_ring_release(&shared_ring);
}

TEST(thread_records_are_found_and_used_again)
{
    CHECK(thread_table_find(4000000) == NULL);
    CHECK(thread_table_find(-1) == NULL);
    struct thread_record *record = thread_table_add(4000000);
    CHECK(record != NULL && thread_table_find(4000000) == record);
    CHECK(thread_table_add(4000000) == record);
    thread_table_remove(4000000);
    CHECK(thread_table_find(4000000) == NULL);
    CHECK(thread_table_add(77) == record);
    CHECK_INT(thread_table_find(77)->timer, NO_TIMER);
    CHECK(thread_table_add(1 << 30) == NULL);
    thread_table_remove(77);
}
