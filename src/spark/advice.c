#include "spark/advice.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"

#define MOST_ITEMS 10000
#define MEBIBYTE 1048576.0

struct case_of_stage {
    const struct application *application;
    const struct stage *stage;
    const struct stage_row *row;
};

/* A rule fills the item and returns true when it has something to say about the stage. */
typedef bool stage_rule(const struct case_of_stage *it, struct advice_item *item);

static bool find_skew(const struct case_of_stage *it, struct advice_item *item)
{
    double skew = stage_row_skew(it->row);
    double excess_ms = (double)it->row->most_ms - (double)it->row->median_ms;
    if (it->row->count < 3 || skew < 4 || excess_ms < 5000)
        return false;
    const struct task *slowest = &it->application->tasks[it->row->slowest_task];
    item->severity = excess_ms / 1000;
    snprintf(item->finding, sizeof(item->finding),
             "task %" PRId64 " (index %u) took %.1f s, %.1f times the median of %.1f s", slowest->id,
             slowest->index, (double)it->row->most_ms / 1000, skew, (double)it->row->median_ms / 1000);
    snprintf(item->remedy, sizeof(item->remedy),
             "compare its flame graph with the median task's; when it reads more data, split the hot key "
             "(salting, "
             "spark.sql.adaptive.skewJoin) or repartition");
    return true;
}

static bool find_spill(const struct case_of_stage *it, struct advice_item *item)
{
    int64_t spilled = it->stage->totals.disk_spilled_bytes;
    if (spilled < 100 * (int64_t)MEBIBYTE)
        return false;
    item->severity = (double)spilled / (100 * MEBIBYTE);
    snprintf(item->finding, sizeof(item->finding), "%.0f MiB were spilled to disk (%.0f MiB in memory)",
             (double)spilled / MEBIBYTE, (double)it->stage->totals.memory_spilled_bytes / MEBIBYTE);
    snprintf(item->remedy, sizeof(item->remedy),
             "more partitions (spark.sql.shuffle.partitions) or more memory per task (spark.executor.memory "
             "over cores)");
    return true;
}

static bool find_gc_pressure(const struct case_of_stage *it, struct advice_item *item)
{
    const struct task_metrics *totals = &it->stage->totals;
    if (totals->run_ms < 10000 || (double)totals->gc_ms < 0.1 * (double)totals->run_ms)
        return false;
    item->severity = (double)totals->gc_ms / 1000;
    snprintf(item->finding, sizeof(item->finding),
             "garbage collection took %.0f %% of the tasks' time (%.1f of %.1f s)",
             100.0 * (double)totals->gc_ms / (double)totals->run_ms, (double)totals->gc_ms / 1000,
             (double)totals->run_ms / 1000);
    snprintf(
        item->remedy, sizeof(item->remedy),
        "look at the allocation flame graph (-e alloc); more heap per core, or fewer objects per record");
    return true;
}

static bool find_tiny_tasks(const struct case_of_stage *it, struct advice_item *item)
{
    if (it->row->count < 1000 || it->row->median_ms >= 100)
        return false;
    item->severity = (double)it->row->sum_ms / 1000;
    snprintf(item->finding, sizeof(item->finding),
             "%zu tasks of %" PRId64 " ms at the median: scheduling costs as much", it->row->count,
             it->row->median_ms);
    snprintf(item->remedy, sizeof(item->remedy),
             "fewer partitions: coalesce(), or spark.sql.adaptive.coalescePartitions");
    return true;
}

static bool find_waiting(const struct case_of_stage *it, struct advice_item *item)
{
    const struct task_metrics *totals = &it->stage->totals;
    double run = (double)totals->run_ms, cpu = (double)totals->cpu_ns / 1e6, gc = (double)totals->gc_ms;
    double waiting = run - cpu - gc - (double)totals->shuffle_fetch_wait_ms;
    if (run < 10000 || totals->cpu_ns == 0 || waiting < 0.6 * run)
        return false;
    item->severity = waiting / 1000;
    snprintf(
        item->finding, sizeof(item->finding),
        "tasks used the CPU for %.0f %% of their time and waited %.1f s for something else than shuffle or "
        "collection",
        100 * cpu / run, waiting / 1000);
    snprintf(item->remedy, sizeof(item->remedy),
             "record wall clock (-e wall): Python workers, locks, or input and output are where it waits");
    return true;
}

static bool find_failures(const struct case_of_stage *it, struct advice_item *item)
{
    if (it->stage->failed == 0)
        return false;
    item->severity = it->stage->failed;
    snprintf(item->finding, sizeof(item->finding), "%u of its tasks failed", it->stage->failed);
    snprintf(item->remedy, sizeof(item->remedy),
             "see what they failed with; the first error is usually the cause");
    return true;
}

static const struct {
    const char *name;
    stage_rule *find;
} stage_rules[] = {
    {"skew", find_skew},       {"spill", find_spill},
    {"gc", find_gc_pressure},  {"tiny-tasks", find_tiny_tasks},
    {"waiting", find_waiting}, {"failures", find_failures},
};

static bool add_item(struct advice *advice, const struct advice_item *item)
{
    if (!array_reserve(&advice->items, &advice->capacity, advice->size + 1, MOST_ITEMS))
        return advice->size >= MOST_ITEMS;
    advice->items[advice->size++] = *item;
    return true;
}

static bool judge_stages(struct advice *advice, const struct application *application,
                         const struct stage_statistics *statistics)
{
    for (size_t i = 0; i < application->stage_count; i++) {
        struct case_of_stage it = {application, &application->stages[i], &statistics->rows[i]};
        for (size_t j = 0; j < COUNT_OF(stage_rules); j++) {
            struct advice_item item = {
                .rule = stage_rules[j].name, .stage = it.stage->id, .attempt = it.stage->attempt};
            if (stage_rules[j].find(&it, &item) && !add_item(advice, &item))
                return false;
        }
    }
    return true;
}

/* Executors that went before the application ended, for another reason than being idle. */
static bool judge_executors(struct advice *advice, const struct application *application)
{
    for (size_t i = 0; i < application->executor_count; i++) {
        const struct executor *executor = &application->executors[i];
        struct text_view reason = application_text(application, executor->removed_reason);
        if (executor->removed_ms == NO_MS || text_find(reason, TEXT("idle")) != TEXT_NOT_FOUND ||
            (application->end_ms != NO_MS && executor->removed_ms >= application->end_ms))
            continue;
        struct advice_item item = {.rule = "executor-lost", .stage = -1, .severity = 60};
        struct text_view id = application_text(application, executor->id);
        snprintf(item.finding, sizeof(item.finding), "executor %.*s was lost: %.*s",
                 (int)(id.size < 40 ? id.size : 40), id.data, (int)(reason.size < 200 ? reason.size : 200),
                 reason.data);
        bool killed = text_find(reason, TEXT("137")) != TEXT_NOT_FOUND ||
                      text_find(reason, TEXT("memory")) != TEXT_NOT_FOUND;
        snprintf(
            item.remedy, sizeof(item.remedy), "%s",
            killed ? "it ran out of memory: raise spark.executor.memoryOverhead, or find what grew (Python, "
                     "off-heap, heap) in its recording"
                   : "look for the end of its log");
        if (!add_item(advice, &item))
            return false;
    }
    return true;
}

static int compare_items(const void *left, const void *right)
{
    const struct advice_item *a = left, *b = right;
    if (a->severity != b->severity)
        return a->severity > b->severity ? -1 : 1;
    return a->stage < b->stage ? -1 : a->stage > b->stage;
}

bool advice_init(struct advice *advice, const struct application *application,
                 const struct stage_statistics *statistics, struct error *error)
{
    *advice = (struct advice){.items = NULL};
    if (!judge_stages(advice, application, statistics) || !judge_executors(advice, application)) {
        advice_release(advice);
        return error_set_memory(error);
    }
    if (advice->size > 0)
        qsort(advice->items, advice->size, sizeof(*advice->items), compare_items);
    return true;
}

void advice_release(struct advice *advice)
{
    free(advice->items);
    *advice = (struct advice){.items = NULL};
}
