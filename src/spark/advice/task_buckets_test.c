#include "spark/advice/task_buckets.h"

#include "unit_test.h"

static bool holds(const struct task_buckets *buckets, size_t bucket, const uint32_t *tasks, size_t count)
{
    size_t begin = task_buckets_begin(buckets, bucket);
    bool good = buckets->ends[bucket] - begin == count;
    for (size_t i = 0; good && i < count; i++)
        good = buckets->tasks[begin + i] == tasks[i];
    return good;
}

TEST(tasks_are_found_by_stage_and_by_executor)
{
    static const uint32_t stages[] = {2, 0, 2, 0, 2}, executors[] = {1, NO_EXECUTOR, 0, 1, NO_EXECUTOR};
    struct application application;
    struct error error = {0};
    CHECK_OK(error, application_init(&application, &error));
    for (int64_t i = 0; i < 3; i++)
        CHECK(application_stage(&application, i, 0) != NULL);
    for (uint32_t i = 0; i < 2; i++)
        CHECK(application_executor(&application, 1 + i) != NULL);
    for (size_t i = 0; i < 5; i++) {
        struct task *task = application_task(&application, (int64_t)i);
        CHECK(task != NULL);
        task->stage = stages[i];
        task->executor = executors[i];
    }
    struct task_buckets buckets;
    CHECK(task_buckets_by_stage(&buckets, &application));
    CHECK(holds(&buckets, 0, (const uint32_t[]){1, 3}, 2));
    CHECK(holds(&buckets, 1, NULL, 0));
    CHECK(holds(&buckets, 2, (const uint32_t[]){0, 2, 4}, 3));
    task_buckets_release(&buckets);
    CHECK(task_buckets_by_executor(&buckets, &application));
    CHECK(holds(&buckets, 0, (const uint32_t[]){2}, 1));
    CHECK(holds(&buckets, 1, (const uint32_t[]){0, 3}, 2));
    task_buckets_release(&buckets);
    application_release(&application);
}
