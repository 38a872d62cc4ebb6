/*
 * python_sampler.h - samples the Python threads of several processes, and of the processes they start, at a fixed rate.
 *
 * One tick samples all processes. Ticks have absolute times: a late one is skipped and counted, never repeated, so that
 * samples neither drift nor come in bursts.
 *
 * Owns: all data about the processes, until python_sampler_free().
 * Threads: one at a time; python_sampler_run() may be stopped from a signal handler or another thread.
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
    bool follow_children;     /* also processes started by the given ones, even by those without Python */
    bool want_idle;           /* include waiting threads */
    int64_t idle_interval_ns; /* for waiting threads, if they are not always included; 0: never */
    bool only_gil;            /* only threads that hold the GIL */
    bool pauses;              /* pause running threads while they are read */
    bool wants_native;        /* include native frames; pauses threads briefly */
    bool wait_for_python;     /* a given process without Python was just started and may run it later */
};

struct python_sampler_statistics {
    struct python_counts counts;
    uint64_t ticks;
    uint64_t missed_ticks;
    uint64_t processes; /* Python processes seen */
    size_t live;        /* processes that have not ended, with or without Python */
    size_t live_python;
};

struct python_sampler;

/* NULL with an error: out of memory. */
struct python_sampler *python_sampler_new(const struct python_sampler_options *options,
                                          void (*deliver)(void *context, const struct python_stack *stack),
                                          void *context, struct error *error);
void python_sampler_free(struct python_sampler *sampler);
/* False if it cannot be sampled, with the reason. */
bool python_sampler_add(struct python_sampler *sampler, pid_t pid, struct error *error) MUST_CHECK;
/* Runs one tick now. */
void python_sampler_tick(struct python_sampler *sampler);
/* Runs ticks until the duration (0: no limit) is over, *stop is set or all processes have ended. */
void python_sampler_run(struct python_sampler *sampler, int64_t duration_ns, const atomic_bool *stop);
struct python_sampler_statistics python_sampler_statistics(const struct python_sampler *sampler);

#endif
