#include "spark/what_if/what_if.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/id_map.h"

#define MAX_EXECUTORS 65536 /* of a prediction */
#define MAX_CORES 1000000

/* ---- slots ---- */

static int64_t slots_of(const struct what_if *what_if, const struct executor *executor)
{
    int64_t cores = executor->cores < MAX_CORES ? executor->cores : MAX_CORES;
    return cores <= 0 ? 0 : cores / what_if->task_cores;
}

static int compare_slots(const void *left, const void *right)
{
    const struct simulated_slots *a = left, *b = right;
    if (a->time_ms != b->time_ms)
        return a->time_ms < b->time_ms ? -1 : 1;
    return (a->slots < b->slots) - (a->slots > b->slots);
}

static int compare_sizes(const void *left, const void *right)
{
    const struct simulated_slots *a = left, *b = right;
    return (a->slots < b->slots) - (a->slots > b->slots);
}

/* What most executors had; of equally frequent numbers, the largest. Reorders the slots. */
static int64_t usual_slots(struct simulated_slots *slots, size_t count)
{
    int64_t usual = 0;
    size_t most = 0, first = 0;
    if (count > 0)
        qsort(slots, count, sizeof(*slots), compare_sizes);
    for (size_t i = 0; i < count && slots[i].slots > 0; i++) {
        first = slots[i].slots == slots[first].slots ? first : i;
        if (i - first >= most) {
            usual = slots[i].slots;
            most = i - first + 1;
        }
    }
    return usual;
}

static int64_t since_start(const struct application *application, int64_t time_ms)
{
    int64_t ms = span_ms(application->start_ms, time_ms);
    return ms == NO_MS || ms < 0 ? 0 : ms;
}

/* When executors started their first tasks; NO_MS: never. */
static int64_t *list_first_starts(const struct application *application)
{
    int64_t *firsts = malloc((application->executor_count + 1) * sizeof(*firsts));
    for (size_t i = 0; firsts != NULL && i < application->executor_count; i++)
        firsts[i] = NO_MS;
    for (size_t i = 0; firsts != NULL && i < application->task_count; i++) {
        const struct task *task = &application->tasks[i];
        int64_t *first = task->executor == NO_EXECUTOR ? NULL : &firsts[task->executor];
        if (first != NULL && task->launch_ms != NO_MS && (*first == NO_MS || task->launch_ms < *first))
            *first = task->launch_ms;
    }
    return firsts;
}

/* Between its registration and its first task, an executor may not take tasks that wait. */
static int64_t ready_ms(const struct core_timeline *cores, const struct executor *executor, int64_t first_ms)
{
    int64_t delay_ms = span_ms(executor->added_ms, first_ms);
    if (delay_ms == NO_MS || delay_ms <= 0)
        return executor->added_ms;
    double pending = core_timeline_between(cores, executor->added_ms, first_ms).pending;
    return pending >= 0.5 * (double)delay_ms * (double)executor->cores ? first_ms : executor->added_ms;
}

static bool list_slots(struct what_if *what_if, const struct core_timeline *cores)
{
    const struct application *application = what_if->application;
    int64_t *firsts = list_first_starts(application);
    what_if->slots = malloc((2 * application->executor_count + 1) * sizeof(*what_if->slots));
    bool good = firsts != NULL && what_if->slots != NULL;
    for (size_t i = 0; good && i < application->executor_count; i++) {
        const struct executor *executor = &application->executors[i];
        int64_t slots = slots_of(what_if, executor);
        if (slots == 0)
            continue;
        what_if->slots[what_if->slot_count++] =
            (struct simulated_slots){since_start(application, ready_ms(cores, executor, firsts[i])), slots};
        if (executor->removed_ms != NO_MS)
            what_if->slots[what_if->slot_count++] =
                (struct simulated_slots){since_start(application, executor->removed_ms), -slots};
    }
    if (good)
        what_if->cores = usual_slots(what_if->slots, what_if->slot_count) * what_if->task_cores;
    if (good && what_if->slot_count > 0)
        qsort(what_if->slots, what_if->slot_count, sizeof(*what_if->slots), compare_slots);
    free(firsts);
    return good;
}

/* ---- runs ---- */

/* What a simulation handles: tasks, and pieces of those that it divides; slots, stages, jobs and what connects them. */
static size_t cost_of(const struct what_if *what_if, const struct simulation_input *input)
{
    const struct run_graph *graph = &what_if->graph;
    const struct stage_change *change = &input->change;
    size_t pieces = change->stage != NO_CHANGE && change->max_ms > 0
                        ? (size_t)(graph->stages[change->stage].sum_ms / change->max_ms)
                        : 0;
    return graph->task_count + graph->stage_count + graph->job_count + graph->stage_edge_count +
           graph->job_edge_count + input->slot_count + pieces;
}

static bool has_budget(const struct what_if *what_if, const struct simulation_input *input)
{
    return cost_of(what_if, input) <= what_if->tasks_left;
}

static bool run(struct what_if *what_if, const struct simulation_input *input, int64_t *ms)
{
    if (!input->is_unlimited)
        what_if->tasks_left -= has_budget(what_if, input) ? cost_of(what_if, input) : what_if->tasks_left;
    if (!simulation_run(&what_if->simulation, input))
        return false;
    *ms = what_if->simulation.end_ms;
    return true;
}

static bool replay(struct what_if *what_if)
{
    struct simulation_input input = {
        .slots = what_if->slots, .slot_count = what_if->slot_count, .change.stage = NO_CHANGE};
    if (!run(what_if, &input, &what_if->predicted_ms))
        return false;
    if (what_if->actual_ms > 0)
        what_if->error = (double)what_if->predicted_ms / (double)what_if->actual_ms - 1;
    what_if->is_reliable =
        what_if->actual_ms > 0 && what_if->error <= WHAT_IF_MAX_ERROR && what_if->error >= -WHAT_IF_MAX_ERROR;
    return true;
}

/* As many as there were at one time start when the run's first ones did; the others with the last of them. With dynamic
 * allocation, all start with the first: later ones were asked for when there was work. */
static void list_starts(const struct what_if *what_if, struct simulated_slots *starts, size_t count,
                        int64_t slots)
{
    bool is_dynamic = text_equal(
        application_property(what_if->application, "spark.dynamicAllocation.enabled"), TEXT("true"));
    size_t given = 0, recorded = (size_t)what_if->executors < count ? (size_t)what_if->executors : count;
    int64_t time_ms = 0;
    for (size_t i = 0; i < what_if->slot_count && given < recorded; i++) {
        if (what_if->slots[i].slots <= 0)
            continue;
        time_ms = given > 0 && is_dynamic ? time_ms : what_if->slots[i].time_ms;
        starts[given++] = (struct simulated_slots){time_ms, slots};
    }
    while (given < count)
        starts[given++] = (struct simulated_slots){time_ms, slots};
}

static bool predict(struct what_if *what_if, struct what_if_point *point)
{
    struct simulation_input input = {.slot_count = (size_t)point->executors, .change.stage = NO_CHANGE};
    if (!has_budget(what_if, &input))
        return true;
    struct simulated_slots *starts = malloc(((size_t)point->executors + 1) * sizeof(*starts));
    if (starts == NULL)
        return false;
    input.slots = starts;
    list_starts(what_if, starts, (size_t)point->executors, point->cores / what_if->task_cores);
    bool good = run(what_if, &input, &point->ms);
    for (int64_t i = 0; good && i < point->executors; i++)
        if (starts[i].time_ms < point->ms)
            point->core_ms += (double)(point->ms - starts[i].time_ms) * (double)point->cores;
    free(starts);
    return good;
}

/* ---- points ---- */

static void add_point(struct what_if_points *points, int64_t executors, int64_t cores)
{
    const struct what_if_point *last = points->size == 0 ? NULL : &points->items[points->size - 1];
    bool is_new = last == NULL || last->executors < executors || last->cores < cores;
    bool is_possible = executors >= 1 && executors <= MAX_EXECUTORS && cores >= 1;
    if (is_new && is_possible && points->size < WHAT_IF_MAX_POINTS)
        points->items[points->size++] = (struct what_if_point){.executors = executors, .cores = cores};
}

/* In quarters of what the run had. */
static const int quarters[] = {1, 2, 3, 4, 5, 6, 8, 12, 16}, few_quarters[] = {2, 4, 8};

/* The driver is the executor. */
static bool is_local(const struct application *application)
{
    for (size_t i = 0; i < application->executor_count; i++)
        if (application->executors[i].cores > 0 &&
            text_equal(application_text(application, application->executors[i].id), TEXT("driver")))
            return true;
    return false;
}

static bool predict_points(struct what_if *what_if)
{
    struct simulation_input own = {.slot_count = what_if->slot_count, .change.stage = NO_CHANGE};
    bool is_large = cost_of(what_if, &own) * 4 * COUNT_OF(quarters) > what_if->tasks_left;
    const int *steps = is_large ? few_quarters : quarters;
    size_t count = is_large ? COUNT_OF(few_quarters) : COUNT_OF(quarters);
    for (size_t i = 0; i < count; i++) {
        if (!is_local(what_if->application))
            add_point(&what_if->by_executors, (what_if->executors * steps[i] + 3) / 4, what_if->cores);
        int64_t cores = (what_if->cores * steps[i] + 3) / 4;
        cores -= cores % what_if->task_cores;
        add_point(&what_if->by_cores, what_if->executors, cores);
    }
    for (size_t i = 0; i < what_if->by_executors.size; i++)
        if (!predict(what_if, &what_if->by_executors.items[i]))
            return false;
    for (size_t i = 0; i < what_if->by_cores.size; i++)
        if (!predict(what_if, &what_if->by_cores.items[i]))
            return false;
    return true;
}

static void drop_unknown(struct what_if_points *points)
{
    size_t kept = 0;
    for (size_t i = 0; i < points->size; i++)
        if (points->items[i].ms > 0)
            points->items[kept++] = points->items[i];
    points->size = kept;
}

/* ---- the critical path ---- */

static void add_step(struct what_if *what_if, uint32_t stage, int64_t *next_start_ms)
{
    const struct simulated_stage *own = &what_if->simulation.stages[stage];
    struct what_if_step *step = &what_if->steps[what_if->step_count++];
    const struct graph_stage *node = &what_if->graph.stages[stage];
    if (what_if->step_count > 1)
        step[-1].wait_ms = *next_start_ms - own->end_ms;
    *step = (struct what_if_step){.stage = node->stage, .ms = own->end_ms - own->start_ms};
    *next_start_ms = own->start_ms;
}

static uint32_t last_job(const struct what_if *what_if)
{
    uint32_t last = NO_CHANGE;
    for (uint32_t i = 0; i < what_if->graph.job_count; i++)
        if (last == NO_CHANGE || what_if->simulation.jobs[i].end_ms >= what_if->simulation.jobs[last].end_ms)
            last = i;
    return last;
}

/* From the end of the simulation without limits back to its start. */
static bool find_critical_path(struct what_if *what_if)
{
    struct simulation_input input = {.is_unlimited = true, .change.stage = NO_CHANGE};
    int64_t next_start_ms = 0;
    what_if->steps = malloc((what_if->graph.stage_count + 1) * sizeof(*what_if->steps));
    if (what_if->steps == NULL || !run(what_if, &input, &what_if->critical_ms))
        return false;
    for (uint32_t job = last_job(what_if); job != NO_CHANGE; job = what_if->simulation.jobs[job].last_parent)
        for (uint32_t stage = what_if->simulation.jobs[job].last_stage; stage != NO_CHANGE;
             stage = what_if->simulation.stages[stage].last_parent)
            add_step(what_if, stage, &next_start_ms);
    if (what_if->step_count > 0)
        what_if->steps[what_if->step_count - 1].wait_ms = next_start_ms;
    for (size_t i = 0; i < what_if->step_count / 2; i++) {
        struct what_if_step step = what_if->steps[i];
        what_if->steps[i] = what_if->steps[what_if->step_count - 1 - i];
        what_if->steps[what_if->step_count - 1 - i] = step;
    }
    return true;
}

/* ---- all ---- */

static void set_bounds(struct what_if *what_if, const struct core_timeline *cores)
{
    double running = core_timeline_all(cores).running, work_ms = 0;
    double slots = cores->max_cores / (double)what_if->task_cores;
    for (size_t i = 0; i < what_if->graph.stage_count; i++)
        work_ms += (double)what_if->graph.stages[i].sum_ms;
    what_if->driver_ms = what_if->actual_ms - (int64_t)running;
    what_if->driver_ms = what_if->driver_ms < 0 ? 0 : what_if->driver_ms;
    what_if->ideal_ms = what_if->driver_ms + (int64_t)(work_ms / (slots >= 1 ? slots : 1));
    what_if->executors = (int64_t)(cores->max_cores / (double)what_if->cores + 0.5);
    what_if->executors = what_if->executors < 1 ? 1 : what_if->executors;
}

static bool work_out(struct what_if *what_if, const struct core_timeline *cores, struct error *error)
{
    const struct application *application = what_if->application;
    if (!list_slots(what_if, cores))
        return error_set_memory(error);
    int64_t actual_ms = span_ms(application->start_ms, application_last_ms(application));
    what_if->actual_ms = actual_ms == NO_MS ? 0 : actual_ms;
    what_if->is_known =
        what_if->slot_count > 0 && actual_ms != NO_MS && application->task_count > 0 &&
        application->task_count + application->stage_count + application->job_count + what_if->slot_count <=
            WHAT_IF_TASKS;
    if (!what_if->is_known)
        return true;
    if (!run_graph_init(&what_if->graph, application, cores, error))
        return false;
    set_bounds(what_if, cores);
    bool good = simulation_init(&what_if->simulation, &what_if->graph) && replay(what_if) &&
                (!what_if->is_reliable || (predict_points(what_if) && find_critical_path(what_if)));
    drop_unknown(&what_if->by_executors);
    drop_unknown(&what_if->by_cores);
    return good || error_set_memory(error);
}

bool what_if_init(struct what_if *what_if, const struct application *application,
                  const struct core_timeline *cores, struct error *error)
{
    *what_if = (struct what_if){.application = application,
                                .task_cores = application_task_cores(application),
                                .tasks_left = WHAT_IF_TASKS};
    if (work_out(what_if, cores, error))
        return true;
    what_if_release(what_if);
    return false;
}

void what_if_release(struct what_if *what_if)
{
    free(what_if->steps);
    free(what_if->slots);
    simulation_release(&what_if->simulation);
    run_graph_release(&what_if->graph);
    *what_if = (struct what_if){.slots = NULL};
}

int64_t what_if_saved_ms(struct what_if *what_if, uint32_t stage, double factor, int64_t max_ms)
{
    int64_t ms;
    if (!what_if->is_reliable || what_if->graph.of_stage[stage] == NO_ID)
        return -1;
    struct simulation_input input = {.slots = what_if->slots,
                                     .slot_count = what_if->slot_count,
                                     .change = {what_if->graph.of_stage[stage], factor, max_ms}};
    if (!has_budget(what_if, &input) || !run(what_if, &input, &ms))
        return -1;
    return ms < what_if->predicted_ms ? what_if->predicted_ms - ms : 0;
}
