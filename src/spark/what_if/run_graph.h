/*
 * run_graph.h - what waited for what in a run: jobs, stages and tasks with their durations and the pauses between
 * them, for the simulation.
 *
 * A stage waits for the stages of its job that computed the RDDs it reads. A job waits for the last job that ended
 * before it was submitted, which the driver had to see, and for the stages of other jobs that computed what it
 * reads (adaptive execution makes a job of each stage). Pauses (driver, scheduling) keep their length.
 *
 * Owns: its arrays, until run_graph_release(). Borrows the application.
 * Threads: one at a time.
 */
#ifndef SPARK_RUN_GRAPH_H
#define SPARK_RUN_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "spark/application.h"
#include "spark/core_timeline.h"

/* A task's duration in milliseconds, and whether it is of several attempts, which cannot be divided. */
static inline int64_t graph_duration(int64_t ms, bool is_chain)
{
    return ms * 2 + is_chain;
}

static inline int64_t graph_duration_ms(int64_t duration)
{
    return duration / 2;
}

static inline bool graph_duration_is_chain(int64_t duration)
{
    return duration % 2 != 0;
}

struct graph_edge {
    uint32_t from, to;
};

struct graph_stage {
    uint32_t stage; /* number in application.stages */
    uint32_t job;   /* number in run_graph.jobs */
    int64_t id, attempt;
    uint32_t first_task, task_count;
    uint32_t first_edge, edge_count; /* in stage_edges: the stages of the same job that wait for it */
    uint32_t parent_count;
    int64_t pause_ms;  /* from the end of the last parent, or the start of the job, to the submission */
    int64_t launch_ms; /* from there to the first task, if a core was free */
    int64_t tail_ms;   /* from the end of the last task to the end of the stage */
    int64_t max_ms, sum_ms;
};

struct graph_job {
    uint32_t job; /* number in application.jobs */
    uint32_t stage_count;
    uint32_t first_edge, edge_count; /* in job_edges: the jobs that wait for it */
    uint32_t parent_count;
    int64_t pause_ms; /* from the end of the last parent, or the start of the application */
    int64_t tail_ms;  /* from the end of its last stage */
    int64_t end_ms;
};

struct run_graph {
    const struct application *application;
    struct graph_job *jobs; /* by time of submission */
    size_t job_count;
    struct graph_stage *stages; /* by job, then id: the order in which Spark starts them */
    size_t stage_count;
    uint32_t *of_stage; /* of each stage of the application, its number here; NO_ID: it did not run */
    int64_t
        *durations; /* graph_duration()s, of each stage's tasks, in the order in which they were launched */
    size_t task_count;
    struct graph_edge *stage_edges, *job_edges; /* by `from` */
    size_t stage_edge_count, job_edge_count;
    int64_t start_ms, end_ms;
    int64_t tail_ms; /* from the end of the last job to the application's end */
};

bool run_graph_init(struct run_graph *graph, const struct application *application,
                    const struct core_timeline *cores, struct error *error) MUST_CHECK;
void run_graph_release(struct run_graph *graph);

#endif
