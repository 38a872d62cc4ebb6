#include "spark/advice/cpu_share.h"

#include "unit_test.h"

/* Tasks whose deserialization took 100 ms, with so many milliseconds of CPU time. */
static double share_of(const int64_t *cpu_ms, size_t count, const uint32_t *chosen, size_t chosen_count)
{
    struct task tasks[8] = {0};
    for (size_t i = 0; i < count; i++) {
        tasks[i].metrics.deserialize_ms = 100;
        tasks[i].metrics.deserialize_cpu_ns = cpu_ms[i] * 1000000;
    }
    struct application application = {.tasks = tasks, .task_count = count};
    return cpu_share_of(&application, chosen, chosen == NULL ? count : chosen_count);
}

static bool is_near(double value, double expected)
{
    return value > expected - 1e-6 && value < expected + 1e-6;
}

TEST(the_median_task_counts)
{
    /* The first one fetched a file. */
    int64_t cpu_ms[] = {1, 10, 12};
    CHECK(is_near(share_of(cpu_ms, 3, NULL, 0), 0.201));
}

TEST(half_of_the_time_is_a_quiet_host)
{
    int64_t cpu_ms[] = {50, 60, 200};
    CHECK(is_near(share_of(cpu_ms, 3, NULL, 0), 1));
}

TEST(tasks_that_say_nothing)
{
    int64_t unknown[] = {0, 0, 0};
    CHECK(is_near(share_of(unknown, 3, NULL, 0), 1));
    CHECK(is_near(share_of(unknown, 0, NULL, 0), 1));
}

TEST(of_chosen_tasks)
{
    int64_t cpu_ms[] = {50, 1, 60, 2, 70, 3};
    uint32_t slow[] = {1, 3, 5};
    CHECK(is_near(share_of(cpu_ms, 6, slow, 3), 0.041));
}
