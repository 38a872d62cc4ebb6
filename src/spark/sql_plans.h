/*
 * sql_plans.h - plans of SQL queries: operators with their counters and final values.
 *
 * Texts are numbers of the application's string table.
 *
 * Owns: everything, until sql_plans_release().
 * Threads: one at a time.
 */
#ifndef SPARK_SQL_PLANS_H
#define SPARK_SQL_PLANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/id_map.h"

#define NO_NODE UINT32_MAX
#define NO_COUNTER_STAGE UINT32_MAX

/* An operator, or a group of them. The nodes of a plan are consecutive, in preorder. */
struct plan_node {
    uint32_t name;   /* "HashAggregate", "WholeStageCodegen (2)" */
    uint32_t detail; /* "HashAggregate(keys=[k#1L], functions=[count(1)])" */
    uint32_t parent; /* number in the plan; NO_NODE: the root */
    uint32_t depth;
    uint32_t first_counter; /* in sql_plans.counters */
    uint32_t counter_count;
};

struct plan_counter {
    uint32_t name; /* "number of output rows" */
    uint32_t unit; /* "sum", "size", "timing", "nsTiming", "average" */
    int64_t id;    /* of Spark's accumulator */
};

/* A stage's tasks counted with this counter. */
struct stage_counter {
    uint32_t stage; /* number in application.stages; NO_COUNTER_STAGE: not known yet */
    int64_t id;
};

/* Distribution of the values of tasks that succeeded. */
struct counter_spread {
    int64_t least, median, most;
    uint64_t tasks;
    int64_t most_task; /* id of the task with the most */
};

/* Of one counter. */
struct counter_tasks {
    struct counter_value *values;
    size_t size, capacity;
    struct counter_spread spread; /* after sql_plans_close_tasks() or sql_plans_finish() */
    bool is_closed;
};

/* A counter that adaptive execution added to a query. */
struct query_counter {
    int64_t query; /* its id */
    struct plan_counter counter;
};

struct sql_plans {
    struct plan_node *nodes;
    size_t node_count, node_capacity;
    struct plan_counter *counters;
    size_t counter_count, counter_capacity;
    struct stage_counter *stage_counters;
    size_t stage_counter_count, stage_counter_capacity;
    struct id_map value_numbers; /* counter's id to its place in `values` */
    int64_t *values;
    size_t value_count, value_capacity;
    struct id_map task_numbers; /* counter's id to its place in `tasks` */
    struct counter_tasks *tasks;
    size_t task_count, task_capacity;
    struct query_counter *query_counters; /* by query, after sql_plans_finish() */
    size_t query_counter_count, query_counter_capacity;
};

void sql_plans_init(struct sql_plans *plans);
void sql_plans_release(struct sql_plans *plans);
/* All return false when out of memory. */
bool sql_plans_add_node(struct sql_plans *plans, uint32_t parent, uint32_t depth,
                        uint32_t *number) MUST_CHECK;
bool sql_plans_add_counter(struct sql_plans *plans, const struct plan_counter *counter) MUST_CHECK;
/* The counter's final value; a later call replaces it. */
bool sql_plans_set_value(struct sql_plans *plans, int64_t id, int64_t value) MUST_CHECK;
bool sql_plans_add_stage_counter(struct sql_plans *plans, int64_t id) MUST_CHECK;
/* Sets the stage of the last ones. */
void sql_plans_claim(struct sql_plans *plans, uint32_t stage);
/* A value of a task that succeeded; below 0: none. */
bool sql_plans_add_task(struct sql_plans *plans, int64_t id, int64_t task, int64_t value) MUST_CHECK;
/* No more tasks of this counter will follow: frees their memory. */
bool sql_plans_close_tasks(struct sql_plans *plans, int64_t id) MUST_CHECK;
bool sql_plans_add_query_counter(struct sql_plans *plans, int64_t query,
                                 const struct plan_counter *counter) MUST_CHECK;
/* At the end; of several logs, of each. */
bool sql_plans_finish(struct sql_plans *plans) MUST_CHECK;
/* NULL: no values of tasks are known. */
const struct counter_spread *sql_plans_spread(const struct sql_plans *plans, int64_t id);
/* False: nobody counted. */
bool sql_plans_value(const struct sql_plans *plans, int64_t id, int64_t *value);

#endif
