/*
 * python_sampler.h - samples the Python threads of several processes, and of the processes they start, at a fixed rate.
 *
 * One tick serves all processes. Ticks have absolute times: a late one is skipped and counted, never made up for, so
 * that samples neither drift nor come in bursts.
 *
 * Owns: all it knows of the processes, until python_sampler_free().
 * Threads: one at a time; python_sampler_run() may be told to stop from a signal handler or another thread.
 */
#ifndef PYTHON_SAMPLER_PYTHON_SAMPLER_H
#define PYTHON_SAMPLER_PYTHON_SAMPLER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/attributes.h"
#include "base/error.h"
#include "python_sampler/python_process.h"
#include "python_sampler/python_stack.h"

#define PYTHON_MOST_PROCESSES 4096

struct python_sampler_options {
    int64_t interval_ns;
    bool
        follow_children; /* also processes that the given ones start, and those that have no Python themselves */
    bool want_idle;      /* also threads that wait */
    int64_t idle_interval_ns; /* so often they come, too, though they are not wanted always; 0: never */
    bool only_gil;            /* only threads that hold the GIL */
    bool pauses;              /* threads that run are stopped while they are read */
    bool wants_native;        /* native frames, too; stops threads for an instant */
    bool wait_for_python; /* a given process that runs no Python yet may become one: it was just started */
};

struct python_sampler_statistics {
    struct python_counts counts;
    uint64_t ticks;
    uint64_t missed_ticks;
    uint64_t processes; /* Python processes seen */
    size_t live;        /* processes that have not ended, Python or not */
    size_t live_python;
};

struct python_sampler;

/* NULL with an error: out of memory. */
struct python_sampler *python_sampler_new(const struct python_sampler_options *options,
                                          void (*deliver)(void *context, const struct python_stack *stack),
                                          void *context, struct error *error);
void python_sampler_free(struct python_sampler *sampler);
/* False when it cannot be sampled, with the reason. */
bool python_sampler_add(struct python_sampler *sampler, pid_t pid, struct error *error) MUST_CHECK;
/* One tick now. */
void python_sampler_tick(struct python_sampler *sampler);
/* Ticks until the duration (0: no limit) is over, *stop is set or all processes have ended. */
void python_sampler_run(struct python_sampler *sampler, int64_t duration_ns, const atomic_bool *stop);
struct python_sampler_statistics python_sampler_statistics(const struct python_sampler *sampler);

#endif
