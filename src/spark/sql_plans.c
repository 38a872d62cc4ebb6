#include "spark/sql_plans.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/key_sort.h"

#define MOST_ITEMS ((size_t)UINT32_MAX - 1)

/* For key_sort(). */
struct counter_value {
    uint64_t value;
    int64_t task;
};

void sql_plans_init(struct sql_plans *plans)
{
    *plans = (struct sql_plans){.nodes = NULL};
    id_map_init(&plans->value_numbers);
    id_map_init(&plans->task_numbers);
}

void sql_plans_release(struct sql_plans *plans)
{
    free(plans->nodes);
    free(plans->counters);
    free(plans->stage_counters);
    free(plans->values);
    for (size_t i = 0; i < plans->task_count; i++)
        free(plans->tasks[i].values);
    free(plans->tasks);
    free(plans->query_counters);
    id_map_release(&plans->value_numbers);
    id_map_release(&plans->task_numbers);
    sql_plans_init(plans);
}

bool sql_plans_add_node(struct sql_plans *plans, uint32_t parent, uint32_t depth, uint32_t *number)
{
    if (!array_reserve(&plans->nodes, &plans->node_capacity, plans->node_count + 1, MOST_ITEMS))
        return false;
    *number = (uint32_t)plans->node_count++;
    plans->nodes[*number] = (struct plan_node){.parent = parent, .depth = depth};
    return true;
}

bool sql_plans_add_counter(struct sql_plans *plans, const struct plan_counter *counter)
{
    if (!array_reserve(&plans->counters, &plans->counter_capacity, plans->counter_count + 1, MOST_ITEMS))
        return false;
    plans->counters[plans->counter_count++] = *counter;
    return true;
}

bool sql_plans_set_value(struct sql_plans *plans, int64_t id, int64_t value)
{
    uint32_t *place = id_map_place(&plans->value_numbers, (uint64_t)id);
    if (place == NULL)
        return false;
    if (*place == NO_ID) {
        *place = 0;
        if (!array_reserve(&plans->values, &plans->value_capacity, plans->value_count + 1, MOST_ITEMS))
            return false;
        *place = (uint32_t)plans->value_count++;
    }
    plans->values[*place] = value;
    return true;
}

/* ---- task by task ---- */

static struct counter_tasks *tasks_of(struct sql_plans *plans, int64_t id)
{
    uint32_t *place = id_map_place(&plans->task_numbers, (uint64_t)id);
    if (place == NULL)
        return NULL;
    if (*place == NO_ID) {
        *place = 0;
        if (!array_reserve(&plans->tasks, &plans->task_capacity, plans->task_count + 1, MOST_ITEMS))
            return NULL;
        *place = (uint32_t)plans->task_count;
        plans->tasks[plans->task_count++] = (struct counter_tasks){.values = NULL};
    }
    return &plans->tasks[*place];
}

bool sql_plans_add_task(struct sql_plans *plans, int64_t id, int64_t task, int64_t value)
{
    if (value < 0)
        return true;
    struct counter_tasks *tasks = tasks_of(plans, id);
    if (tasks == NULL)
        return false;
    if (tasks->is_closed)
        return true;
    if (!array_reserve(&tasks->values, &tasks->capacity, tasks->size + 1, MOST_ITEMS))
        return false;
    tasks->values[tasks->size++] = (struct counter_value){(uint64_t)value, task};
    return true;
}

static bool sum_up(struct counter_tasks *tasks)
{
    const struct counter_value *values = tasks->values;
    size_t size = tasks->size;
    if (size == 0)
        return true;
    if (!key_sort(tasks->values, size))
        return false;
    tasks->spread = (struct counter_spread){
        .least = (int64_t)values[0].value,
        .median = (int64_t)values[size / 2].value,
        .most = (int64_t)values[size - 1].value,
        .tasks = size,
        .most_task = values[size - 1].task,
    };
    return true;
}

bool sql_plans_close_tasks(struct sql_plans *plans, int64_t id)
{
    uint32_t number = id_map_get(&plans->task_numbers, (uint64_t)id);
    if (number == NO_ID || plans->tasks[number].is_closed)
        return true;
    struct counter_tasks *tasks = &plans->tasks[number];
    if (!sum_up(tasks))
        return false;
    tasks->is_closed = true;
    tasks->size = tasks->capacity = 0;
    free(tasks->values);
    tasks->values = NULL;
    return true;
}

const struct counter_spread *sql_plans_spread(const struct sql_plans *plans, int64_t id)
{
    uint32_t number = id_map_get(&plans->task_numbers, (uint64_t)id);
    return number == NO_ID || plans->tasks[number].spread.tasks == 0 ? NULL : &plans->tasks[number].spread;
}

bool sql_plans_add_query_counter(struct sql_plans *plans, int64_t query, const struct plan_counter *counter)
{
    if (!array_reserve(&plans->query_counters, &plans->query_counter_capacity, plans->query_counter_count + 1,
                       MOST_ITEMS))
        return false;
    plans->query_counters[plans->query_counter_count++] = (struct query_counter){query, *counter};
    return true;
}

static int compare_query_counters(const void *left, const void *right)
{
    const struct query_counter *a = left, *b = right;
    if (a->query != b->query)
        return a->query < b->query ? -1 : 1;
    return (a->counter.id > b->counter.id) - (a->counter.id < b->counter.id);
}

bool sql_plans_finish(struct sql_plans *plans)
{
    if (plans->query_counter_count > 0)
        qsort(plans->query_counters, plans->query_counter_count, sizeof(*plans->query_counters),
              compare_query_counters);
    for (size_t i = 0; i < plans->task_count; i++)
        if (!sum_up(&plans->tasks[i]))
            return false;
    return true;
}

bool sql_plans_add_stage_counter(struct sql_plans *plans, int64_t id)
{
    if (!array_reserve(&plans->stage_counters, &plans->stage_counter_capacity, plans->stage_counter_count + 1,
                       MOST_ITEMS))
        return false;
    plans->stage_counters[plans->stage_counter_count++] = (struct stage_counter){NO_COUNTER_STAGE, id};
    return true;
}

void sql_plans_claim(struct sql_plans *plans, uint32_t stage)
{
    for (size_t i = plans->stage_counter_count; i > 0; i--) {
        if (plans->stage_counters[i - 1].stage != NO_COUNTER_STAGE)
            return;
        plans->stage_counters[i - 1].stage = stage;
    }
}

bool sql_plans_value(const struct sql_plans *plans, int64_t id, int64_t *value)
{
    uint32_t number = id_map_get(&plans->value_numbers, (uint64_t)id);
    if (number == NO_ID)
        return false;
    *value = plans->values[number];
    return true;
}
