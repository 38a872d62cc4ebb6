#include "spark/stages/stage_statistics.h"

#include <stdlib.h>

#define NO_TASK UINT32_MAX

struct timed_task {
    uint32_t stage;
    uint32_t task;
    int64_t duration_ms;
};

static int compare_tasks(const void *left, const void *right)
{
    const struct timed_task *a = left, *b = right;
    if (a->stage != b->stage)
        return a->stage < b->stage ? -1 : 1;
    if (a->duration_ms != b->duration_ms)
        return a->duration_ms < b->duration_ms ? -1 : 1;
    return a->task < b->task ? -1 : a->task > b->task;
}

static size_t collect(const struct application *application, struct timed_task *tasks)
{
    size_t count = 0;
    for (uint32_t i = 0; i < application->task_count; i++) {
        const struct task *task = &application->tasks[i];
        int64_t duration_ms = task_duration_ms(task);
        if (task->status == TASK_SUCCEEDED && duration_ms != NO_MS)
            tasks[count++] = (struct timed_task){task->stage, i, duration_ms};
    }
    qsort(tasks, count, sizeof(*tasks), compare_tasks);
    return count;
}

static struct stage_row summarize(const struct timed_task *tasks, size_t count)
{
    struct stage_row row = {
        .count = count,
        .least_ms = tasks[0].duration_ms,
        .median_ms = tasks[count / 2].duration_ms,
        .p95_ms = tasks[(count * 95 - 1) / 100].duration_ms,
        .most_ms = tasks[count - 1].duration_ms,
        .slowest_task = tasks[count - 1].task,
    };
    for (size_t i = 0; i < count; i++)
        row.sum_ms = (int64_t)((uint64_t)row.sum_ms + (uint64_t)tasks[i].duration_ms);
    return row;
}

bool stage_statistics_init(struct stage_statistics *statistics, const struct application *application,
                           struct error *error)
{
    struct timed_task *tasks = malloc((application->task_count + 1) * sizeof(*tasks));
    *statistics = (struct stage_statistics){.size = application->stage_count};
    statistics->rows = calloc(application->stage_count + 1, sizeof(*statistics->rows));
    if (tasks == NULL || statistics->rows == NULL) {
        free(tasks);
        stage_statistics_release(statistics);
        return error_set_memory(error);
    }
    for (size_t i = 0; i < statistics->size; i++)
        statistics->rows[i].slowest_task = NO_TASK;
    size_t count = collect(application, tasks);
    for (size_t begin = 0, end = 0; begin < count; begin = end) {
        while (end < count && tasks[end].stage == tasks[begin].stage)
            end++;
        statistics->rows[tasks[begin].stage] = summarize(tasks + begin, end - begin);
    }
    free(tasks);
    return true;
}

void stage_statistics_release(struct stage_statistics *statistics)
{
    free(statistics->rows);
    *statistics = (struct stage_statistics){.rows = NULL};
}

double stage_row_skew(const struct stage_row *row)
{
    return row->count < 2 || row->median_ms <= 0 ? 1 : (double)row->most_ms / (double)row->median_ms;
}
