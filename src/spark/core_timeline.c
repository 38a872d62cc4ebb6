#include "spark/core_timeline.h"

#include <stdlib.h>

#include "base/key_sort.h"

#define MAX_CORES 1000000
#define MAX_MS (INT64_C(1) << 52)

enum change_kind { CHANGE_CORES, CHANGE_TASKS, CHANGE_PENDING, CHANGE_FIRST_START };

/* For key_sort(). */
struct core_change {
    uint64_t time_ms;
    enum change_kind kind;
    int32_t amount;
};

struct core_changes {
    struct core_change *items;
    size_t size;
};

static void add(struct core_changes *changes, int64_t time_ms, enum change_kind kind, int64_t amount)
{
    if (time_ms < 0 || time_ms > MAX_MS)
        return;
    int64_t most = kind == CHANGE_CORES ? MAX_CORES : INT32_MAX;
    int64_t kept = amount > most ? most : amount < -most ? -most : amount;
    changes->items[changes->size++] = (struct core_change){(uint64_t)time_ms, kind, (int32_t)kept};
}

static void add_executors(struct core_changes *changes, const struct application *application,
                          int64_t last_ms)
{
    for (size_t i = 0; i < application->executor_count; i++) {
        const struct executor *executor = &application->executors[i];
        int64_t from_ms = executor->added_ms == NO_MS ? application->start_ms : executor->added_ms;
        int64_t to_ms = executor->removed_ms == NO_MS ? last_ms : executor->removed_ms;
        if (executor->cores <= 0 || span_ms(from_ms, to_ms) == NO_MS)
            continue;
        add(changes, from_ms, CHANGE_CORES, executor->cores);
        add(changes, to_ms, CHANGE_CORES, -executor->cores);
    }
}

/* A task ends with its executor. */
static int64_t end_of(const struct application *application, const struct task *task, int64_t last_ms)
{
    int64_t end_ms = task->finish_ms == NO_MS ? last_ms : task->finish_ms;
    if (task->executor == NO_EXECUTOR)
        return end_ms;
    int64_t removed_ms = application->executors[task->executor].removed_ms;
    return removed_ms != NO_MS && removed_ms < end_ms ? removed_ms : end_ms;
}

static bool has_span(const struct application *application, const struct task *task, int64_t last_ms)
{
    return span_ms(task->launch_ms, end_of(application, task, last_ms)) != NO_MS;
}

static bool is_first_attempt(const struct task *task)
{
    return task->attempt == 0 && !task->speculative;
}

static void add_tasks(struct core_changes *changes, const struct application *application, int64_t last_ms)
{
    int64_t cores = application_task_cores(application);
    for (size_t i = 0; i < application->task_count; i++) {
        const struct task *task = &application->tasks[i];
        if (!has_span(application, task, last_ms))
            continue;
        add(changes, task->launch_ms, is_first_attempt(task) ? CHANGE_FIRST_START : CHANGE_TASKS, cores);
        add(changes, end_of(application, task, last_ms), CHANGE_TASKS, -cores);
    }
}

/* First attempts of a stage's tasks. */
struct first_attempts {
    int64_t started;
    int64_t unknown; /* when they ran is not known */
};

/* Tasks wait from the submission of their stage; what was never started, until its end. */
static bool add_pending(struct core_changes *changes, const struct application *application, int64_t last_ms)
{
    struct first_attempts *firsts = calloc(application->stage_count + 1, sizeof(*firsts));
    if (firsts == NULL)
        return false;
    for (size_t i = 0; i < application->task_count; i++) {
        const struct task *task = &application->tasks[i];
        bool is_known = has_span(application, task, last_ms);
        firsts[task->stage].started += is_known && is_first_attempt(task);
        firsts[task->stage].unknown += !is_known && is_first_attempt(task);
    }
    for (size_t i = 0; i < application->stage_count; i++) {
        const struct stage *stage = &application->stages[i];
        int64_t end_ms = stage->completed_ms == NO_MS ? last_ms : stage->completed_ms;
        if (span_ms(stage->submitted_ms, end_ms) == NO_MS || stage->task_count <= 0 ||
            stage->status == STAGE_SKIPPED)
            continue;
        int64_t known = stage->task_count - firsts[i].unknown, started = firsts[i].started;
        int64_t waiting = known > started ? known : started;
        add(changes, stage->submitted_ms, CHANGE_PENDING, waiting);
        add(changes, end_ms, CHANGE_PENDING, started - waiting);
    }
    free(firsts);
    return true;
}

/* What is so at one moment of the sweep. */
struct core_moment {
    double cores, busy, waiting;
};

static void apply(struct core_moment *moment, const struct core_change *change)
{
    if (change->kind == CHANGE_CORES)
        moment->cores += change->amount;
    else if (change->kind == CHANGE_PENDING)
        moment->waiting += change->amount;
    else
        moment->busy += change->amount;
    if (change->kind == CHANGE_FIRST_START)
        moment->waiting -= 1;
}

static void advance(struct core_sums *sums, const struct core_moment *moment, double ms)
{
    double busy = moment->busy < moment->cores ? moment->busy : moment->cores;
    double idle = (moment->cores - busy) * ms;
    sums->there += moment->cores * ms;
    sums->busy += busy * ms;
    bool has_tasks = moment->busy > 0 || moment->waiting > 0;
    sums->running += has_tasks ? ms : 0;
    if (!has_tasks)
        sums->driver += idle;
    else if (moment->waiting > 0)
        sums->pending += idle;
    else
        sums->tail += idle;
}

static bool sweep(struct core_timeline *timeline, const struct core_changes *changes)
{
    struct core_moment moment = {0, 0, 0};
    struct core_sums sums = {0};
    size_t moments = 1;
    for (size_t i = 1; i < changes->size; i++)
        moments += changes->items[i].time_ms != changes->items[i - 1].time_ms;
    timeline->points = malloc(moments * sizeof(*timeline->points));
    if (timeline->points == NULL)
        return false;
    for (size_t i = 0; i < changes->size; i++) {
        uint64_t time_ms = changes->items[i].time_ms;
        if (i > 0 && time_ms != changes->items[i - 1].time_ms)
            advance(&sums, &moment, (double)(time_ms - changes->items[i - 1].time_ms));
        if (i == 0 || time_ms != changes->items[i - 1].time_ms)
            timeline->points[timeline->size++] = (struct core_point){(int64_t)time_ms, sums};
        apply(&moment, &changes->items[i]);
        timeline->max_cores = moment.cores > timeline->max_cores ? moment.cores : timeline->max_cores;
    }
    return true;
}

bool core_timeline_init(struct core_timeline *timeline, const struct application *application,
                        struct error *error)
{
    int64_t last_ms = application_last_ms(application);
    size_t most = 2 * (application->executor_count + application->task_count + application->stage_count) + 1;
    struct core_changes changes = {.items = malloc(most * sizeof(*changes.items))};
    *timeline = (struct core_timeline){.size = 0};
    if (changes.items == NULL)
        return error_set_memory(error);
    add_executors(&changes, application, last_ms);
    add_tasks(&changes, application, last_ms);
    bool good = add_pending(&changes, application, last_ms) &&
                (changes.size == 0 || (key_sort(changes.items, changes.size) && sweep(timeline, &changes)));
    free(changes.items);
    return good || error_set_memory(error);
}

void core_timeline_release(struct core_timeline *timeline)
{
    free(timeline->points);
    *timeline = (struct core_timeline){.size = 0};
}

/* Up to that moment; between two points, in proportion. */
static struct core_sums up_to(const struct core_timeline *timeline, int64_t time_ms)
{
    size_t low = 0, high = timeline->size;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (timeline->points[middle].time_ms <= time_ms)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return (struct core_sums){0};
    const struct core_point *before = &timeline->points[low - 1], *after = before + 1;
    if (low == timeline->size)
        return before->sums;
    const struct core_sums *a = &before->sums, *b = &after->sums;
    double part = (double)(time_ms - before->time_ms) / (double)(after->time_ms - before->time_ms);
    return (struct core_sums){
        .there = a->there + part * (b->there - a->there),
        .busy = a->busy + part * (b->busy - a->busy),
        .driver = a->driver + part * (b->driver - a->driver),
        .pending = a->pending + part * (b->pending - a->pending),
        .tail = a->tail + part * (b->tail - a->tail),
        .running = a->running + part * (b->running - a->running),
    };
}

struct core_sums core_timeline_between(const struct core_timeline *timeline, int64_t from_ms, int64_t to_ms)
{
    struct core_sums from = up_to(timeline, from_ms), to = up_to(timeline, to_ms);
    if (to_ms < from_ms)
        return (struct core_sums){0};
    return (struct core_sums){
        .there = to.there - from.there,
        .busy = to.busy - from.busy,
        .driver = to.driver - from.driver,
        .pending = to.pending - from.pending,
        .tail = to.tail - from.tail,
        .running = to.running - from.running,
    };
}

struct core_sums core_timeline_all(const struct core_timeline *timeline)
{
    return timeline->size == 0 ? (struct core_sums){0} : timeline->points[timeline->size - 1].sums;
}
