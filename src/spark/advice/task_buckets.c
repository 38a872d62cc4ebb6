#include "spark/advice/task_buckets.h"

#include <stdlib.h>

#define NO_BUCKET UINT32_MAX

typedef uint32_t bucket_of_task(const struct task *task);

static uint32_t stage_of(const struct task *task)
{
    return task->stage;
}

static uint32_t executor_of(const struct task *task)
{
    return task->executor == NO_EXECUTOR ? NO_BUCKET : task->executor;
}

static bool fill(struct task_buckets *buckets, const struct application *application, size_t count,
                 bucket_of_task *bucket_of)
{
    buckets->tasks = malloc((application->task_count + 1) * sizeof(*buckets->tasks));
    buckets->ends = calloc(count + 1, sizeof(*buckets->ends));
    if (buckets->tasks == NULL || buckets->ends == NULL) {
        task_buckets_release(buckets);
        return false;
    }
    /* Sizes, then beginnings, which become ends as the buckets are filled. */
    for (size_t i = 0; i < application->task_count; i++)
        if (bucket_of(&application->tasks[i]) != NO_BUCKET)
            buckets->ends[bucket_of(&application->tasks[i])]++;
    size_t begin = 0;
    for (size_t i = 0; i < count; i++) {
        size_t size = buckets->ends[i];
        buckets->ends[i] = begin;
        begin += size;
    }
    for (size_t i = 0; i < application->task_count; i++) {
        uint32_t bucket = bucket_of(&application->tasks[i]);
        if (bucket != NO_BUCKET)
            buckets->tasks[buckets->ends[bucket]++] = (uint32_t)i;
    }
    return true;
}

bool task_buckets_by_stage(struct task_buckets *buckets, const struct application *application)
{
    return fill(buckets, application, application->stage_count, stage_of);
}

bool task_buckets_by_executor(struct task_buckets *buckets, const struct application *application)
{
    return fill(buckets, application, application->executor_count, executor_of);
}

void task_buckets_release(struct task_buckets *buckets)
{
    free(buckets->tasks);
    free(buckets->ends);
    *buckets = (struct task_buckets){.tasks = NULL};
}
