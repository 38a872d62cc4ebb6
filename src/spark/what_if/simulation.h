/*
 * simulation.h - how long a run would have taken with other cores or other tasks.
 *
 * Events in order of time: tasks take free slots, stages in the order of their jobs and ids (Spark's FIFO), tasks
 * in the order in which they were launched. A task takes as long as it did, wherever it runs.
 *
 * Owns: its arrays, until simulation_release(). Borrows the graph.
 * Threads: one at a time.
 * Limit: memory for one number per slot and a few per stage and job.
 */
#ifndef SPARK_SIMULATION_H
#define SPARK_SIMULATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "spark/what_if/run_graph.h"

#define NO_CHANGE UINT32_MAX

/* Slots that come or go, by time since the start. */
struct simulated_slots {
    int64_t time_ms;
    int64_t slots;
};

/* Another course of one stage. */
struct stage_change {
    uint32_t stage; /* number in run_graph.stages; NO_CHANGE: none */
    double factor;  /* of the tasks' durations; 1: as they were */
    int64_t max_ms; /* longer tasks are divided; 0: none is */
};

struct simulation_input {
    const struct simulated_slots *slots; /* by time */
    size_t slot_count;
    bool is_unlimited; /* each task has a slot at once */
    struct stage_change change;
};

struct simulation_event {
    int64_t time_ms;
    uint32_t kind;
    uint32_t index;
};

/* The first one by time, kind and index is on top. */
struct event_heap {
    struct simulation_event *items;
    size_t size, capacity;
};

struct simulation {
    const struct run_graph *graph;
    struct event_heap events;
    struct simulated_stage *stages;
    struct simulated_job *jobs;
    struct event_heap open; /* stages with tasks to start, by number alone */
    const struct simulation_input *input;
    int64_t slots, free_slots;
    int64_t now_ms;
    int64_t end_ms; /* of the application, since its start */
};

struct simulated_stage {
    uint32_t left_parents; /* and its job, until that has started */
    uint32_t next_task, next_piece, running;
    int64_t ready_ms; /* of what it waited for last */
    int64_t start_ms, end_ms;
    uint32_t last_parent; /* stage that it waited for last; NO_CHANGE: the job's start */
};

struct simulated_job {
    uint32_t left_parents, left_stages;
    int64_t ready_ms, start_ms, end_ms;
    uint32_t last_parent; /* job; NO_CHANGE: none */
    uint32_t last_stage;  /* that ended it; NO_CHANGE: none */
};

bool simulation_init(struct simulation *simulation, const struct run_graph *graph) MUST_CHECK;
void simulation_release(struct simulation *simulation);
/* Sets end_ms, and times and last parents of stages and jobs. May be called again. False: out of memory. */
bool simulation_run(struct simulation *simulation, const struct simulation_input *input) MUST_CHECK;

#endif
