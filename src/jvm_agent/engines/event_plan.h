/*
 * event_plan.h - the events that a recording takes, and their engines.
 */
#ifndef JVM_AGENT_EVENT_PLAN_H
#define JVM_AGENT_EVENT_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "jvm_agent/arguments.h"
#include "jvm_agent/engines/engine.h"
#include "jvm_agent/sample.h"

struct event_plan {
    const struct engine *execution; /* NULL: none */
    struct engine_settings execution_settings;
    bool execution_may_fall_back; /* "cpu": perf events, or timers */
    bool names_at_once;           /* frames are named during the recording */
    const struct engine *wall;
    struct engine_settings wall_settings;
    bool allocations;
    bool live;
    bool outside; /* distinguish allocations outside of thread-local buffers */
    uint64_t allocation_bytes;
    bool native_memory;
    uint64_t native_bytes;
    bool releases;
    bool locks;
    uint64_t lock_ns;
    int signal_number;          /* requested; 0: choose */
    int wall_signal_number;     /* the same for wall-clock sampling */
    enum sample_kind main_kind; /* event of outputs that show one event only */
    const char *unit;
};

/* Fails for an invalid combination. */
bool event_plan_make(struct event_plan *plan, const struct arguments *arguments,
                     struct error *error) MUST_CHECK;
/* Called when the JVM starts, for a recording that starts once the JVM is initialized. */
void event_plan_prepare(const struct arguments *arguments);
bool event_plan_start(struct event_plan *plan, struct error *error) MUST_CHECK;
void event_plan_stop(struct event_plan *plan);

#endif
