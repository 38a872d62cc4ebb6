#include "spark/what_if/run_graph.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/id_map.h"
#include "base/key_sort.h"

#define MAX_EDGES ((size_t)1 << 26)
#define MAX_SPAN_MS (INT64_C(1) << 40)
#define MAX_LOOK_BACK 1000

struct graph_making {
    struct run_graph *graph;
    const struct application *application;
    const struct core_timeline *cores;
    uint32_t *graph_jobs;  /* of each job */
    struct id_map retried; /* (stage, index) of tasks with several attempts to chain_ends */
    int64_t *chain_ends;
    size_t chain_count;
    size_t stage_edge_capacity, job_edge_capacity;
};

/* For key_sort(). */
struct timed_item {
    uint64_t key;
    uint64_t item;
};

static int64_t pause(int64_t from_ms, int64_t to_ms)
{
    int64_t ms = span_ms(from_ms, to_ms);
    return ms == NO_MS || ms < 0 ? 0 : ms < MAX_SPAN_MS ? ms : MAX_SPAN_MS;
}

/* ---- nodes ---- */

static int64_t end_of_job(const struct graph_making *making, const struct job *job)
{
    return job->completed_ms == NO_MS ? making->graph->end_ms : job->completed_ms;
}

static bool list_jobs(struct graph_making *making)
{
    const struct application *application = making->application;
    struct run_graph *graph = making->graph;
    struct timed_item *order = malloc((application->job_count + 1) * sizeof(*order));
    size_t count = 0;
    if (order == NULL)
        return false;
    for (size_t i = 0; i < application->job_count; i++) {
        making->graph_jobs[i] = NO_ID;
        if (span_ms(application->jobs[i].submitted_ms, end_of_job(making, &application->jobs[i])) != NO_MS)
            order[count++] = (struct timed_item){(uint64_t)application->jobs[i].submitted_ms, i};
    }
    bool good = count == 0 || key_sort(order, count);
    for (size_t i = 0; good && i < count; i++) {
        const struct job *job = &application->jobs[order[i].item];
        making->graph_jobs[order[i].item] = (uint32_t)i;
        graph->jobs[i] =
            (struct graph_job){.job = (uint32_t)order[i].item, .end_ms = end_of_job(making, job)};
    }
    graph->job_count = count;
    free(order);
    return good;
}

static uint32_t job_of_stage(const struct graph_making *making, const struct stage *stage)
{
    const struct application *application = making->application;
    uint32_t first = id_map_get(&application->stage_numbers, application_stage_key(stage->id, 0));
    int64_t job = stage->job >= 0 || first == NO_ID ? stage->job : application->stages[first].job;
    uint32_t number = id_map_get(&application->job_numbers, (uint64_t)job);
    return job < 0 || number == NO_ID ? NO_ID : making->graph_jobs[number];
}

static int compare_stages(const void *left, const void *right)
{
    const struct graph_stage *a = left, *b = right;
    if (a->job != b->job)
        return a->job < b->job ? -1 : 1;
    if (a->id != b->id)
        return a->id < b->id ? -1 : 1;
    return (a->attempt > b->attempt) - (a->attempt < b->attempt);
}

static void list_stages(struct graph_making *making)
{
    const struct application *application = making->application;
    struct run_graph *graph = making->graph;
    for (uint32_t i = 0; i < application->stage_count; i++) {
        const struct stage *stage = &application->stages[i];
        uint32_t job = job_of_stage(making, stage);
        making->graph->of_stage[i] = NO_ID;
        bool has_run = stage->status != STAGE_SKIPPED && stage->status != STAGE_PENDING;
        if (job != NO_ID && has_run && stage->submitted_ms != NO_MS)
            graph->stages[graph->stage_count++] =
                (struct graph_stage){.stage = i, .job = job, .id = stage->id, .attempt = stage->attempt};
    }
    if (graph->stage_count > 0)
        qsort(graph->stages, graph->stage_count, sizeof(*graph->stages), compare_stages);
    for (uint32_t i = 0; i < graph->stage_count; i++) {
        making->graph->of_stage[graph->stages[i].stage] = i;
        graph->jobs[graph->stages[i].job].stage_count++;
    }
}

/* ---- tasks ---- */

static bool counts(const struct graph_making *making, const struct task *task)
{
    return making->graph->of_stage[task->stage] != NO_ID && task_duration_ms(task) != NO_MS;
}

static uint64_t key_of(const struct graph_making *making, const struct task *task)
{
    return (uint64_t)making->graph->of_stage[task->stage] << 32 | task->index;
}

static int64_t duration_of(const struct graph_making *making, const struct task *task)
{
    uint32_t chain = id_map_get(&making->retried, key_of(making, task));
    bool is_longer = chain != NO_ID && (task->status != TASK_SUCCEEDED);
    return pause(task->launch_ms, is_longer ? making->chain_ends[chain] : task->finish_ms);
}

/* Attempts of a task together are one task, from the launch of the first to the success of another one. */
static bool find_retried(struct graph_making *making)
{
    const struct application *application = making->application;
    size_t capacity = 0;
    for (size_t i = 0; i < application->task_count; i++) {
        const struct task *task = &application->tasks[i];
        if (task->attempt == 0 || !counts(making, task))
            continue;
        uint32_t *chain = id_map_place(&making->retried, key_of(making, task));
        if (chain == NULL ||
            !array_reserve(&making->chain_ends, &capacity, making->chain_count + 1, UINT32_MAX - 1))
            return false;
        bool is_new = *chain == NO_ID;
        *chain = is_new ? (uint32_t)making->chain_count++ : *chain;
        if (is_new || task->status == TASK_SUCCEEDED || task->finish_ms > making->chain_ends[*chain])
            making->chain_ends[*chain] = task->finish_ms;
    }
    return true;
}

static bool order_tasks(const struct graph_making *making, struct timed_item *order, size_t *count)
{
    const struct application *application = making->application;
    for (size_t i = 0; i < application->task_count; i++)
        if (application->tasks[i].attempt == 0 && counts(making, &application->tasks[i]))
            order[(*count)++] = (struct timed_item){(uint64_t)application->tasks[i].launch_ms, i};
    return *count == 0 || key_sort(order, *count);
}

static bool list_tasks(struct graph_making *making)
{
    const struct application *application = making->application;
    struct run_graph *graph = making->graph;
    struct timed_item *order = malloc((application->task_count + 1) * sizeof(*order));
    size_t count = 0;
    bool good = order != NULL && find_retried(making) && order_tasks(making, order, &count);
    for (size_t i = 0; good && i < count; i++)
        graph->stages[graph->of_stage[application->tasks[order[i].item].stage]].task_count++;
    for (size_t i = 0; good && i < graph->stage_count; i++) {
        graph->stages[i].first_task = (uint32_t)graph->task_count;
        graph->task_count += graph->stages[i].task_count;
        graph->stages[i].task_count = 0;
    }
    for (size_t i = 0; good && i < count; i++) {
        const struct task *task = &application->tasks[order[i].item];
        struct graph_stage *stage = &graph->stages[graph->of_stage[task->stage]];
        int64_t ms = duration_of(making, task);
        bool is_chain = task->status != TASK_SUCCEEDED;
        graph->durations[stage->first_task + stage->task_count++] = graph_duration(ms, is_chain);
        stage->max_ms = ms > stage->max_ms ? ms : stage->max_ms;
        stage->sum_ms = stage->sum_ms + ms < MAX_SPAN_MS * 1024 ? stage->sum_ms + ms : stage->sum_ms;
    }
    free(order);
    return good;
}

/* A stage whose tasks are not known is one task of its length. */
static void add_unknown_stages(struct run_graph *graph)
{
    for (size_t i = 0; i < graph->stage_count; i++) {
        struct graph_stage *stage = &graph->stages[i];
        const struct stage *own = &graph->application->stages[stage->stage];
        if (stage->task_count == 0)
            stage->tail_ms =
                pause(own->submitted_ms, own->completed_ms == NO_MS ? graph->end_ms : own->completed_ms);
    }
}

/* ---- pauses ---- */

static bool set_tails(struct graph_making *making)
{
    const struct application *application = making->application;
    struct run_graph *graph = making->graph;
    int64_t *times = calloc(2 * graph->stage_count + 1, sizeof(*times));
    if (times == NULL)
        return false;
    int64_t *firsts = times, *lasts = times + graph->stage_count;
    for (size_t i = 0; i < graph->stage_count; i++)
        firsts[i] = lasts[i] = NO_MS;
    for (size_t i = 0; i < application->task_count; i++) {
        const struct task *task = &application->tasks[i];
        uint32_t number = making->graph->of_stage[task->stage];
        if (!counts(making, task))
            continue;
        firsts[number] =
            firsts[number] == NO_MS || task->launch_ms < firsts[number] ? task->launch_ms : firsts[number];
        lasts[number] = task->finish_ms > lasts[number] ? task->finish_ms : lasts[number];
    }
    double cores = (double)application_task_cores(application);
    for (size_t i = 0; i < graph->stage_count; i++) {
        struct graph_stage *stage = &graph->stages[i];
        const struct stage *own = &application->stages[stage->stage];
        int64_t launch_ms = pause(own->submitted_ms, firsts[i]);
        struct core_sums sums = core_timeline_between(making->cores, own->submitted_ms, firsts[i]);
        bool was_free = sums.there - sums.busy >= 0.5 * cores * (double)launch_ms;
        if (stage->task_count == 0)
            continue;
        stage->launch_ms = was_free ? launch_ms : 0;
        stage->tail_ms = own->completed_ms == NO_MS ? 0 : pause(lasts[i], own->completed_ms);
    }
    free(times);
    return true;
}

/* ---- edges ---- */

/* Edges may repeat until they are sorted. */
static bool add_edge(struct graph_edge **edges, size_t *count, size_t *capacity, uint32_t from, uint32_t to)
{
    if (*count > 0 && (*edges)[*count - 1].from == from && (*edges)[*count - 1].to == to)
        return true;
    if (!array_reserve(edges, capacity, *count + 1, MAX_EDGES))
        return *count >= MAX_EDGES;
    (*edges)[(*count)++] = (struct graph_edge){from, to};
    return true;
}

static bool add_stage_edge(struct graph_making *making, uint32_t from, uint32_t to)
{
    struct run_graph *graph = making->graph;
    return add_edge(&graph->stage_edges, &graph->stage_edge_count, &making->stage_edge_capacity, from, to);
}

static bool add_job_edge(struct graph_making *making, uint32_t from, uint32_t to)
{
    struct run_graph *graph = making->graph;
    return add_edge(&graph->job_edges, &graph->job_edge_count, &making->job_edge_capacity, from, to);
}

static bool ended_before(const struct stage *from, const struct stage *to)
{
    return from->completed_ms != NO_MS && from->completed_ms <= to->submitted_ms;
}

/* Of the MAX_LOOK_BACK stages before it in its job, the one that ended last before this one was submitted; NO_ID: none
 * did. */
static uint32_t last_before(const struct graph_making *making, uint32_t number)
{
    const struct run_graph *graph = making->graph;
    const struct stage *stages = making->application->stages;
    const struct stage *own = &stages[graph->stages[number].stage];
    uint32_t last = NO_ID, end = number > MAX_LOOK_BACK ? number - MAX_LOOK_BACK : 0;
    for (uint32_t i = number; i > end && graph->stages[i - 1].job == graph->stages[number].job; i--) {
        const struct stage *other = &stages[graph->stages[i - 1].stage];
        bool is_later = last == NO_ID || other->completed_ms > stages[graph->stages[last].stage].completed_ms;
        if (ended_before(other, own) && is_later)
            last = i - 1;
    }
    return last;
}

/* A job that was submitted while the other one ran did not wait for all of it. */
static bool job_ended_before(const struct graph_making *making, uint32_t from, uint32_t to)
{
    const struct run_graph *graph = making->graph;
    return from < to &&
           graph->jobs[from].end_ms <= making->application->jobs[graph->jobs[to].job].submitted_ms;
}

/* Connects a stage with those that computed what it reads. */
static bool connect_stage(struct graph_making *making, const struct id_map *producers, uint32_t number)
{
    const struct application *application = making->application;
    const struct run_graph *graph = making->graph;
    const struct stage *own = &application->stages[graph->stages[number].stage];
    size_t before = graph->stage_edge_count;
    for (uint32_t i = 0; i < own->input_count; i++) {
        uint64_t data_set = (uint64_t)application->stage_inputs[own->first_input + i];
        uint32_t from = id_map_get(producers, data_set);
        if (from == NO_ID || from == number ||
            !ended_before(&application->stages[graph->stages[from].stage], own))
            continue;
        uint32_t from_job = graph->stages[from].job, to_job = graph->stages[number].job;
        if (from_job == to_job && from < number
                ? !add_stage_edge(making, from, number)
                : job_ended_before(making, from_job, to_job) && !add_job_edge(making, from_job, to_job))
            return false;
    }
    if (graph->stage_edge_count > before)
        return true;
    uint32_t last = last_before(making, number);
    return last == NO_ID || add_stage_edge(making, last, number);
}

static bool connect_stages(struct graph_making *making)
{
    const struct application *application = making->application;
    const struct run_graph *graph = making->graph;
    struct id_map producers;
    bool good = true;
    id_map_init(&producers);
    for (uint32_t i = 0; good && i < graph->stage_count; i++) {
        const struct stage *own = &application->stages[graph->stages[i].stage];
        good = connect_stage(making, &producers, i);
        if (good && own->data_set >= 0)
            good = id_map_set(&producers, (uint64_t)own->data_set, i);
    }
    id_map_release(&producers);
    return good;
}

static int compare_ends(const void *left, const void *right)
{
    const struct timed_item *a = left, *b = right;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return a->item < b->item ? -1 : a->item > b->item;
}

/* Each job with the one that ended last before it was submitted. */
static bool connect_jobs(struct graph_making *making)
{
    struct run_graph *graph = making->graph;
    struct timed_item *ends = malloc((graph->job_count + 1) * sizeof(*ends));
    bool good = ends != NULL;
    if (!good)
        return false;
    for (size_t i = 0; i < graph->job_count; i++)
        ends[i] = (struct timed_item){(uint64_t)graph->jobs[i].end_ms, i};
    if (graph->job_count > 0)
        qsort(ends, graph->job_count, sizeof(*ends), compare_ends);
    for (uint32_t i = 0; good && i < graph->job_count; i++) {
        int64_t submitted_ms = making->application->jobs[graph->jobs[i].job].submitted_ms;
        size_t low = 0, high = graph->job_count;
        while (low < high) {
            size_t middle = low + (high - low) / 2;
            int64_t end_ms = (int64_t)ends[middle].key;
            /* Of jobs without duration that were submitted at the same time, the one before. */
            if (end_ms < submitted_ms || (end_ms == submitted_ms && ends[middle].item < i))
                low = middle + 1;
            else
                high = middle;
        }
        if (low > 0)
            good = add_job_edge(making, (uint32_t)ends[low - 1].item, i);
    }
    free(ends);
    return good;
}

static int compare_edges(const void *left, const void *right)
{
    const struct graph_edge *a = left, *b = right;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return a->to < b->to ? -1 : a->to > b->to;
}

static size_t sort_edges(struct graph_edge *edges, size_t count)
{
    size_t kept = 0;
    if (count > 0)
        qsort(edges, count, sizeof(*edges), compare_edges);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || compare_edges(&edges[i - 1], &edges[i]) != 0)
            edges[kept++] = edges[i];
    return kept;
}

static void set_stage_pauses(struct graph_making *making)
{
    struct run_graph *graph = making->graph;
    const struct application *application = making->application;
    for (size_t i = 0; i < graph->stage_count; i++) {
        struct graph_stage *stage = &graph->stages[i];
        stage->pause_ms = pause(application->jobs[graph->jobs[stage->job].job].submitted_ms,
                                application->stages[stage->stage].submitted_ms);
    }
    for (size_t i = 0; i < graph->stage_edge_count; i++) {
        const struct graph_edge *edge = &graph->stage_edges[i];
        struct graph_stage *from = &graph->stages[edge->from], *to = &graph->stages[edge->to];
        int64_t ms =
            pause(application->stages[from->stage].completed_ms, application->stages[to->stage].submitted_ms);
        to->pause_ms = to->parent_count++ == 0 || ms < to->pause_ms ? ms : to->pause_ms;
        from->first_edge = from->edge_count++ == 0 ? (uint32_t)i : from->first_edge;
    }
}

static void set_job_pauses(struct graph_making *making)
{
    struct run_graph *graph = making->graph;
    const struct application *application = making->application;
    int64_t last_ms = graph->start_ms;
    for (size_t i = 0; i < graph->job_count; i++) {
        struct graph_job *job = &graph->jobs[i];
        job->pause_ms = pause(graph->start_ms, application->jobs[job->job].submitted_ms);
        job->tail_ms = pause(application->jobs[job->job].submitted_ms, job->end_ms);
        last_ms = job->end_ms > last_ms ? job->end_ms : last_ms;
    }
    for (size_t i = 0; i < graph->stage_count; i++) {
        struct graph_job *job = &graph->jobs[graph->stages[i].job];
        int64_t completed_ms = application->stages[graph->stages[i].stage].completed_ms;
        int64_t ms = completed_ms == NO_MS ? 0 : pause(completed_ms, job->end_ms);
        job->tail_ms = ms < job->tail_ms ? ms : job->tail_ms;
    }
    for (size_t i = 0; i < graph->job_edge_count; i++) {
        const struct graph_edge *edge = &graph->job_edges[i];
        struct graph_job *from = &graph->jobs[edge->from], *to = &graph->jobs[edge->to];
        int64_t ms = pause(from->end_ms, application->jobs[to->job].submitted_ms);
        to->pause_ms = to->parent_count++ == 0 || ms < to->pause_ms ? ms : to->pause_ms;
        from->first_edge = from->edge_count++ == 0 ? (uint32_t)i : from->first_edge;
    }
    graph->tail_ms = pause(last_ms, graph->end_ms);
}

/* ---- all ---- */

static bool make(struct graph_making *making)
{
    struct run_graph *graph = making->graph;
    const struct application *application = making->application;
    graph->jobs = calloc(application->job_count + 1, sizeof(*graph->jobs));
    graph->stages = calloc(application->stage_count + 1, sizeof(*graph->stages));
    graph->durations = calloc(application->task_count + 1, sizeof(*graph->durations));
    making->graph_jobs = malloc((application->job_count + 1) * sizeof(*making->graph_jobs));
    graph->of_stage = malloc((application->stage_count + 1) * sizeof(*graph->of_stage));
    if (graph->jobs == NULL || graph->stages == NULL || graph->durations == NULL ||
        making->graph_jobs == NULL || graph->of_stage == NULL || !list_jobs(making))
        return false;
    list_stages(making);
    if (!list_tasks(making) || !connect_stages(making) || !connect_jobs(making) || !set_tails(making))
        return false;
    add_unknown_stages(graph);
    graph->stage_edge_count = sort_edges(graph->stage_edges, graph->stage_edge_count);
    graph->job_edge_count = sort_edges(graph->job_edges, graph->job_edge_count);
    set_stage_pauses(making);
    set_job_pauses(making);
    return true;
}

bool run_graph_init(struct run_graph *graph, const struct application *application,
                    const struct core_timeline *cores, struct error *error)
{
    struct graph_making making = {.graph = graph, .application = application, .cores = cores};
    *graph = (struct run_graph){.application = application,
                                .start_ms = application->start_ms,
                                .end_ms = application_last_ms(application)};
    id_map_init(&making.retried);
    bool good = make(&making);
    id_map_release(&making.retried);
    free(making.chain_ends);
    free(making.graph_jobs);
    if (good)
        return true;
    run_graph_release(graph);
    return error_set_memory(error);
}

void run_graph_release(struct run_graph *graph)
{
    free(graph->jobs);
    free(graph->stages);
    free(graph->durations);
    free(graph->of_stage);
    free(graph->stage_edges);
    free(graph->job_edges);
    *graph = (struct run_graph){.jobs = NULL};
}
