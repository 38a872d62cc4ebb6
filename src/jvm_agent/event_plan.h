/*
 * event_plan.h - which events a recording takes, by which engines.
 */
#ifndef JVM_AGENT_EVENT_PLAN_H
#define JVM_AGENT_EVENT_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "jvm_agent/arguments.h"
#include "jvm_agent/engine.h"
#include "jvm_agent/sample_ring.h"

struct event_plan {
    const struct engine *execution; /* NULL: none */
    struct engine_settings execution_settings;
    bool execution_may_fall_back; /* "cpu": perf events, or timers */
    bool names_at_once;           /* frames are named while it records */
    const struct engine *wall;
    struct engine_settings wall_settings;
    bool allocations;
    bool live;
    bool outside; /* tell allocations apart that were outside a thread's buffer */
    uint64_t allocation_bytes;
    bool native_memory;
    uint64_t native_bytes;
    bool releases;
    bool locks;
    uint64_t lock_ns;
    int signal_number;          /* asked for, 0: choose */
    int wall_signal_number;     /* the same for the wall clock */
    enum sample_kind main_kind; /* what outputs show that can show one kind only */
    const char *unit;
};

/* Fails with one line for what cannot be. */
bool event_plan_make(struct event_plan *plan, const struct arguments *arguments,
                     struct error *error) MUST_CHECK;
/* At the start of the JVM, for a recording that begins when it is ready. */
void event_plan_prepare(const struct arguments *arguments);
bool event_plan_start(struct event_plan *plan, struct error *error) MUST_CHECK;
void event_plan_stop(struct event_plan *plan);

#endif
