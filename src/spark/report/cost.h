/*
 * cost.h - what an application cost, from prices of a core and of a GiB of memory for an hour.
 *
 * Executors are paid from the moment they were added to the moment they were removed, for all their cores and memory
 * (heap, overhead, Python's), idle or not. Each part gets its share by core time. The driver is not included.
 *
 * Owns: nothing.
 */
#ifndef SPARK_COST_H
#define SPARK_COST_H

#include <stdbool.h>

#include "spark/application.h"
#include "spark/core_timeline.h"
#include "spark/report/json_out.h"
#include "spark/report/time_spent.h"

/* 0: not given. */
struct cost_prices {
    double core_hour, gib_hour;
};

struct cost {
    bool is_known; /* prices were given, and executors are known */
    double core_hours, gib_hours;
    double total;
    double per_core_ms;
};

void cost_work_out(struct cost *cost, const struct application *application,
                   const struct core_timeline *cores, const struct cost_prices *prices);
/* Of so much core time. */
double cost_of(const struct cost *cost, double core_ms);
/* The member "cost"; nothing if it is not known. */
void cost_write_json(const struct cost *cost, const struct application *application,
                     const struct time_spent *spent, struct json_out *out);
void cost_write_text(const struct cost *cost, const struct time_spent *spent, struct output *output);

#endif
