#include "spark/what_if/simulation.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define MAX_EVENTS ((size_t)1 << 30)
#define MAX_PIECES 100000

/* At one time, what ends comes before what begins. */
enum event_kind { TASK_ENDS, STAGE_ENDS, JOB_ENDS, SLOTS_CHANGE, JOB_STARTS, STAGE_STARTS };

bool simulation_init(struct simulation *simulation, const struct run_graph *graph)
{
    *simulation = (struct simulation){.graph = graph};
    simulation->stages = malloc((graph->stage_count + 1) * sizeof(*simulation->stages));
    simulation->jobs = malloc((graph->job_count + 1) * sizeof(*simulation->jobs));
    if (simulation->stages != NULL && simulation->jobs != NULL)
        return true;
    simulation_release(simulation);
    return false;
}

void simulation_release(struct simulation *simulation)
{
    free(simulation->events.items);
    free(simulation->open.items);
    free(simulation->stages);
    free(simulation->jobs);
    *simulation = (struct simulation){.graph = NULL};
}

/* ---- heaps ---- */

static bool is_before(const struct simulation_event *a, const struct simulation_event *b)
{
    if (a->time_ms != b->time_ms)
        return a->time_ms < b->time_ms;
    return a->kind != b->kind ? a->kind < b->kind : a->index < b->index;
}

static bool add_to_heap(struct event_heap *heap, struct simulation_event event)
{
    if (!array_reserve(&heap->items, &heap->capacity, heap->size + 1, MAX_EVENTS))
        return false;
    size_t at = heap->size++;
    for (; at > 0 && is_before(&event, &heap->items[(at - 1) / 2]); at = (at - 1) / 2)
        heap->items[at] = heap->items[(at - 1) / 2];
    heap->items[at] = event;
    return true;
}

static struct simulation_event take_first(struct event_heap *heap)
{
    struct simulation_event *items = heap->items, first = items[0];
    struct simulation_event last = items[--heap->size];
    size_t at = 0, size = heap->size;
    for (size_t child = 1; child < size; child = 2 * at + 1) {
        if (child + 1 < size && is_before(&items[child + 1], &items[child]))
            child++;
        if (!is_before(&items[child], &last))
            break;
        items[at] = items[child];
        at = child;
    }
    items[at] = last;
    return first;
}

static bool push(struct simulation *simulation, int64_t time_ms, enum event_kind kind, uint32_t index)
{
    return add_to_heap(&simulation->events, (struct simulation_event){time_ms, kind, index});
}

/* ---- tasks ---- */

static const struct stage_change *change_of(const struct simulation *simulation, uint32_t stage)
{
    return simulation->input->change.stage == stage ? &simulation->input->change : NULL;
}

static int64_t duration_of(const struct simulation *simulation, uint32_t stage, uint32_t task)
{
    const struct run_graph *graph = simulation->graph;
    const struct stage_change *change = change_of(simulation, stage);
    int64_t ms = graph_duration_ms(graph->durations[graph->stages[stage].first_task + task]);
    return change == NULL ? ms : (int64_t)((double)ms * change->factor);
}

/* How many tasks it is divided into. */
static int64_t pieces_of(const struct simulation *simulation, uint32_t stage, uint32_t task,
                         int64_t duration_ms)
{
    const struct run_graph *graph = simulation->graph;
    const struct stage_change *change = change_of(simulation, stage);
    if (change == NULL || change->max_ms <= 0 || duration_ms <= change->max_ms ||
        graph_duration_is_chain(graph->durations[graph->stages[stage].first_task + task]))
        return 1;
    int64_t pieces = (duration_ms + change->max_ms - 1) / change->max_ms;
    return pieces < MAX_PIECES ? pieces : MAX_PIECES;
}

static bool start_task(struct simulation *simulation, uint32_t stage)
{
    struct simulated_stage *own = &simulation->stages[stage];
    int64_t duration_ms = duration_of(simulation, stage, own->next_task);
    int64_t pieces = pieces_of(simulation, stage, own->next_task, duration_ms);
    if (++own->next_piece >= pieces) {
        own->next_piece = 0;
        own->next_task++;
    }
    own->running++;
    simulation->free_slots--;
    return push(simulation, simulation->now_ms + duration_ms / pieces, TASK_ENDS, stage);
}

/* Of all open stages, the first in the list takes slots first. */
static bool fill_slots(struct simulation *simulation)
{
    struct event_heap *open = &simulation->open;
    while (simulation->free_slots > 0 && open->size > 0) {
        uint32_t stage = open->items[0].index;
        uint32_t count = simulation->graph->stages[stage].task_count;
        while (simulation->free_slots > 0 && simulation->stages[stage].next_task < count)
            if (!start_task(simulation, stage))
                return false;
        if (simulation->stages[stage].next_task == count)
            (void)take_first(open);
    }
    return true;
}

/* ---- stages and jobs ---- */

static bool make_ready(struct simulation *simulation, uint32_t stage)
{
    const struct graph_stage *node = &simulation->graph->stages[stage];
    return push(simulation, simulation->stages[stage].ready_ms + node->pause_ms + node->launch_ms,
                STAGE_STARTS, stage);
}

static bool start_stage(struct simulation *simulation, uint32_t stage)
{
    const struct graph_stage *node = &simulation->graph->stages[stage];
    simulation->stages[stage].start_ms = simulation->now_ms;
    if (node->task_count == 0)
        return push(simulation, simulation->now_ms + node->tail_ms, STAGE_ENDS, stage);
    if (simulation->input->is_unlimited)
        return push(simulation, simulation->now_ms + node->max_ms + node->tail_ms, STAGE_ENDS, stage);
    return add_to_heap(&simulation->open, (struct simulation_event){.index = stage});
}

static bool end_task(struct simulation *simulation, uint32_t stage)
{
    const struct graph_stage *node = &simulation->graph->stages[stage];
    struct simulated_stage *own = &simulation->stages[stage];
    simulation->free_slots++;
    own->running--;
    return own->running > 0 || own->next_task < node->task_count ||
           push(simulation, simulation->now_ms + node->tail_ms, STAGE_ENDS, stage);
}

static bool end_stage(struct simulation *simulation, uint32_t stage)
{
    const struct run_graph *graph = simulation->graph;
    const struct graph_stage *node = &graph->stages[stage];
    simulation->stages[stage].end_ms = simulation->now_ms;
    for (uint32_t i = node->first_edge; i < node->first_edge + node->edge_count; i++) {
        uint32_t to = graph->stage_edges[i].to;
        struct simulated_stage *child = &simulation->stages[to];
        child->ready_ms = simulation->now_ms;
        child->last_parent = stage;
        if (--child->left_parents == 0 && !make_ready(simulation, to))
            return false;
    }
    struct simulated_job *job = &simulation->jobs[node->job];
    job->last_stage = stage;
    return --job->left_stages > 0 ||
           push(simulation, simulation->now_ms + graph->jobs[node->job].tail_ms, JOB_ENDS, node->job);
}

/* The stages of a job follow one another in the list. */
static uint32_t first_stage_of(const struct run_graph *graph, uint32_t job)
{
    size_t low = 0, high = graph->stage_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (graph->stages[middle].job < job)
            low = middle + 1;
        else
            high = middle;
    }
    return (uint32_t)low;
}

static bool start_job(struct simulation *simulation, uint32_t job)
{
    const struct run_graph *graph = simulation->graph;
    uint32_t first = first_stage_of(graph, job);
    simulation->jobs[job].start_ms = simulation->now_ms;
    if (graph->jobs[job].stage_count == 0)
        return push(simulation, simulation->now_ms + graph->jobs[job].tail_ms, JOB_ENDS, job);
    for (uint32_t i = first; i < first + graph->jobs[job].stage_count; i++) {
        simulation->stages[i].ready_ms = simulation->now_ms;
        if (--simulation->stages[i].left_parents == 0 && !make_ready(simulation, i))
            return false;
    }
    return true;
}

static bool end_job(struct simulation *simulation, uint32_t job)
{
    const struct run_graph *graph = simulation->graph;
    const struct graph_job *node = &graph->jobs[job];
    simulation->jobs[job].end_ms = simulation->now_ms;
    int64_t end_ms = simulation->now_ms + graph->tail_ms;
    simulation->end_ms = end_ms > simulation->end_ms ? end_ms : simulation->end_ms;
    for (uint32_t i = node->first_edge; i < node->first_edge + node->edge_count; i++) {
        uint32_t to = graph->job_edges[i].to;
        struct simulated_job *child = &simulation->jobs[to];
        child->last_parent = job;
        if (--child->left_parents == 0 &&
            !push(simulation, simulation->now_ms + graph->jobs[to].pause_ms, JOB_STARTS, to))
            return false;
    }
    return true;
}

/* The last slot stays: a run that goes on longer than the recorded one needs it. */
static void change_slots(struct simulation *simulation, uint32_t index)
{
    int64_t change = simulation->input->slots[index].slots;
    if (simulation->slots + change < 1)
        change = simulation->slots > 0 ? 1 - simulation->slots : 0;
    simulation->slots += change;
    simulation->free_slots += change;
}

/* ---- all ---- */

static void reset(struct simulation *simulation, const struct simulation_input *input)
{
    const struct run_graph *graph = simulation->graph;
    simulation->events.size = simulation->open.size = 0;
    simulation->slots = simulation->free_slots = simulation->now_ms = 0;
    simulation->input = input;
    simulation->end_ms = graph->job_count == 0 ? span_ms(graph->start_ms, graph->end_ms) : 0;
    for (size_t i = 0; i < graph->stage_count; i++)
        simulation->stages[i] = (struct simulated_stage){.left_parents = graph->stages[i].parent_count + 1,
                                                         .last_parent = NO_CHANGE};
    for (size_t i = 0; i < graph->job_count; i++)
        simulation->jobs[i] = (struct simulated_job){.left_parents = graph->jobs[i].parent_count,
                                                     .left_stages = graph->jobs[i].stage_count,
                                                     .last_parent = NO_CHANGE,
                                                     .last_stage = NO_CHANGE};
}

static bool push_first(struct simulation *simulation)
{
    const struct run_graph *graph = simulation->graph;
    for (uint32_t i = 0; i < simulation->input->slot_count; i++)
        if (!push(simulation, simulation->input->slots[i].time_ms, SLOTS_CHANGE, i))
            return false;
    for (uint32_t i = 0; i < graph->job_count; i++)
        if (graph->jobs[i].parent_count == 0 && !push(simulation, graph->jobs[i].pause_ms, JOB_STARTS, i))
            return false;
    return true;
}

static bool take(struct simulation *simulation, const struct simulation_event *event)
{
    switch ((enum event_kind)event->kind) {
    case TASK_ENDS:
        return end_task(simulation, event->index);
    case STAGE_ENDS:
        return end_stage(simulation, event->index);
    case JOB_ENDS:
        return end_job(simulation, event->index);
    case JOB_STARTS:
        return start_job(simulation, event->index);
    case STAGE_STARTS:
        return start_stage(simulation, event->index);
    case SLOTS_CHANGE:
        change_slots(simulation, event->index);
    }
    return true;
}

bool simulation_run(struct simulation *simulation, const struct simulation_input *input)
{
    reset(simulation, input);
    if (!push_first(simulation))
        return false;
    while (simulation->events.size > 0) {
        struct simulation_event event = take_first(&simulation->events);
        simulation->now_ms = event.time_ms;
        if (!take(simulation, &event))
            return false;
        bool is_last_now =
            simulation->events.size == 0 || simulation->events.items[0].time_ms > event.time_ms;
        if (is_last_now && !fill_slots(simulation))
            return false;
    }
    return true;
}
