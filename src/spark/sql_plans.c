#include "spark/sql_plans.h"

#include <stdlib.h>

#include "base/array.h"

#define MOST_ITEMS ((size_t)UINT32_MAX - 1)

void sql_plans_init(struct sql_plans *plans)
{
    *plans = (struct sql_plans){.nodes = NULL};
    id_map_init(&plans->value_numbers);
}

void sql_plans_release(struct sql_plans *plans)
{
    free(plans->nodes);
    free(plans->counters);
    free(plans->stage_counters);
    free(plans->values);
    id_map_release(&plans->value_numbers);
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
