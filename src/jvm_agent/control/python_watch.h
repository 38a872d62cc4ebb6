/*
 * python_watch.h - a thread that samples the Python processes started by this JVM: pyspark's daemon and workers.
 *
 * As their ancestor the JVM is permitted to read them where other processes are not.
 *
 * Threads: start and stop one at a time; `deliver` and `forget` are called on the sampling thread.
 * Limit: limit_bytes for function names; near it all names are dropped and renumbered.
 */
#ifndef JVM_AGENT_PYTHON_WATCH_H
#define JVM_AGENT_PYTHON_WATCH_H

#include <stdint.h>

#include "base/error.h"
#include "python_sampler/python_stack.h"

struct python_watch_settings {
    int64_t rate;             /* samples per second */
    int64_t idle_interval_ns; /* for samples of waiting threads; 0: none */
    size_t limit_bytes;
    void (*deliver)(void *context, const struct python_stack *stack);
    void (*forget)(void); /* functions of the following stacks have new numbers */
};

bool python_watch_start(const struct python_watch_settings *settings, struct error *error) MUST_CHECK;
/* Returns when no more stacks are delivered. */
void python_watch_stop(void);

#endif
