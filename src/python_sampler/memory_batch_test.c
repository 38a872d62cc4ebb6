#include "python_sampler/memory_batch.h"

#include <string.h>
#include <unistd.h>

#include "unit_test.h"

static const char first[] = "the first piece", second[] = "and the second";

TEST(pieces_come_in_the_order_in_which_they_were_added)
{
    struct memory_batch batch;
    struct process_memory memory;
    size_t at[3];
    process_memory_init(&memory, getpid());
    CHECK(memory_batch_init(&batch));
    CHECK(memory_batch_add(&batch, (uintptr_t)second, sizeof(second), &at[0]));
    CHECK(memory_batch_add(&batch, (uintptr_t)first, sizeof(first), &at[1]));
    struct span_set spans;
    span_set_init(&spans);
    CHECK(span_set_add(&spans, (uintptr_t)first, 3, 0));
    CHECK(memory_batch_add_spans(&batch, &spans, &at[2]));
    CHECK_INT(memory_batch_read(&batch, &memory), MEMORY_OK);
    CHECK_TEXT((const char *)batch.bytes + at[0], second);
    CHECK_TEXT((const char *)batch.bytes + at[1], first);
    CHECK(memcmp(batch.bytes + at[2], "the", 3) == 0);
    span_set_release(&spans);
    memory_batch_release(&batch);
    process_memory_release(&memory);
}

TEST(lesser_spans_come_last_or_not_at_all)
{
    struct memory_batch batch;
    struct process_memory memory;
    static char far_away[3 * 4096];
    size_t at[2];
    struct span_set spans;
    process_memory_init(&memory, getpid());
    CHECK(memory_batch_init(&batch));
    span_set_init(&spans);
    memcpy(far_away, "less", 4);
    memcpy(far_away + 8192, "more", 4);
    CHECK(span_set_add_lesser(&spans, (uintptr_t)far_away, 4, 0));
    CHECK(span_set_add(&spans, (uintptr_t)far_away + 8192, 4, 0));
    CHECK(memory_batch_add_spans(&batch, &spans, &at[0]));
    CHECK(memory_batch_add_plain_spans(&batch, &spans, &at[1]));
    CHECK_INT(memory_batch_read(&batch, &memory), MEMORY_OK);
    CHECK_INT(batch.total_bytes, 12);
    CHECK(memcmp(batch.bytes + at[0], "moreless", 8) == 0);
    CHECK(memcmp(batch.bytes + at[1], "more", 4) == 0);
    span_set_release(&spans);
    memory_batch_release(&batch);
    process_memory_release(&memory);
}

TEST(what_does_not_fit_is_refused)
{
    struct memory_batch batch;
    size_t at;
    CHECK(memory_batch_init(&batch));
    CHECK(!memory_batch_add(&batch, 4096, MEMORY_BATCH_MOST_BYTES + 1, &at));
    for (size_t i = 0; i < MEMORY_RANGE_LIMIT; i++)
        CHECK(memory_batch_add(&batch, 4096, 8, &at));
    CHECK(!memory_batch_add(&batch, 4096, 8, &at));
    CHECK_INT(batch.count, MEMORY_RANGE_LIMIT);
    memory_batch_release(&batch);
}

TEST(memory_that_is_not_mapped_is_a_fault)
{
    struct memory_batch batch;
    struct process_memory memory;
    size_t at;
    process_memory_init(&memory, getpid());
    CHECK(memory_batch_init(&batch));
    CHECK(memory_batch_add(&batch, (uintptr_t)first, sizeof(first), &at));
    CHECK(memory_batch_add(&batch, 8, 8, &at));
    CHECK_INT(memory_batch_read(&batch, &memory), MEMORY_FAULT);
    memory_batch_release(&batch);
    process_memory_release(&memory);
}
