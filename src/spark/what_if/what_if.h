/*
 * what_if.h - how long the application would have taken with other executors, and what bounds it from below.
 *
 * The simulation first predicts the run that it was made from; how far it is off is its error. Above 10 % nothing
 * else is predicted.
 *
 * Owns: its lists, until what_if_release(). Borrows the application.
 * Threads: one at a time.
 * Limit: about WHAT_IF_TASKS tasks, slots, stages and jobs are simulated in all; with more, fewer points and savings
 * are predicted. No point has more than 65,536 executors.
 */
#ifndef SPARK_WHAT_IF_H
#define SPARK_WHAT_IF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "spark/application.h"
#include "spark/core_timeline.h"
#include "spark/what_if/simulation.h"

#define WHAT_IF_TASKS 8000000
#define WHAT_IF_MAX_ERROR 0.1
#define WHAT_IF_MAX_POINTS 16

struct what_if_point {
    int64_t executors, cores; /* cores of each */
    int64_t ms;
    double core_ms; /* while they are there */
};

struct what_if_points {
    struct what_if_point items[WHAT_IF_MAX_POINTS]; /* ascending */
    size_t size;
};

/* A stage of the critical path, in the order of time. */
struct what_if_step {
    uint32_t stage;  /* number in application.stages */
    int64_t wait_ms; /* before it: the driver, scheduling */
    int64_t ms;
};

struct what_if {
    const struct application *application;
    bool is_known;    /* executors, their cores and tasks are */
    bool is_reliable; /* the error is small enough */
    int64_t actual_ms, predicted_ms;
    double error;        /* predicted over actual, less 1 */
    int64_t critical_ms; /* with unlimited cores */
    int64_t ideal_ms;    /* tasks divided among all cores without a rest, after the time without tasks */
    int64_t driver_ms;   /* no task ran or waited */
    int64_t executors, cores, task_cores;         /* cores: what most executors had */
    struct what_if_points by_executors, by_cores; /* empty if not reliable */
    struct what_if_step *steps;
    size_t step_count;
    struct run_graph graph;
    struct simulation simulation;
    struct simulated_slots *slots; /* of the run, by time */
    size_t slot_count;
    size_t tasks_left; /* of WHAT_IF_TASKS, in which slots, stages and jobs count, too */
};

bool what_if_init(struct what_if *what_if, const struct application *application,
                  const struct core_timeline *cores, struct error *error) MUST_CHECK;
void what_if_release(struct what_if *what_if);
/* How much shorter the run would have been if the tasks of a stage (number in application.stages) took `factor` of
 * their time and those over `max_ms` (0: no limit) were divided; -1: not known. */
int64_t what_if_saved_ms(struct what_if *what_if, uint32_t stage, double factor, int64_t max_ms);

#endif
