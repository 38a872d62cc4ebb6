#include "base/threads.h"

#include <stdatomic.h>

#include "failing_memory.h"
#include "unit_test.h"

struct counts {
    atomic_int runs[8];
    atomic_int total;
};

static void count(void *context, size_t index)
{
    struct counts *counts = context;
    atomic_fetch_add(&counts->runs[index], 1);
    atomic_fetch_add(&counts->total, 1);
}

TEST(each_part_runs_once)
{
    for (size_t parts = 0; parts <= 8; parts++) {
        struct counts counts = {0};
        threads_run(parts, count, &counts);
        CHECK_INT(counts.total, parts);
        for (size_t i = 0; i < parts; i++)
            CHECK_INT(counts.runs[i], 1);
    }
}

TEST(each_part_runs_once_without_memory)
{
    FAIL_EACH_ALLOCATION
    {
        struct counts counts = {0};
        threads_run(4, count, &counts);
        CHECK_INT(counts.total, 4);
    }
}

TEST(there_is_a_processor)
{
    CHECK(threads_available() >= 1);
}
