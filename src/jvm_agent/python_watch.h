/*
 * python_watch.h - a thread that samples the Python processes that this JVM has started: pyspark's daemon and workers.
 *
 * Their ancestor may read them where others may not.
 *
 * Threads: start and stop by one at a time; `deliver` is called on the sampling thread.
 */
#ifndef JVM_AGENT_PYTHON_WATCH_H
#define JVM_AGENT_PYTHON_WATCH_H

#include <stdint.h>

#include "base/error.h"
#include "python_sampler/python_stack.h"

/* Threads that wait come every `idle_interval_ns`, 0: never; others `rate` times a second. */
bool python_watch_start(int64_t rate, int64_t idle_interval_ns,
                        void (*deliver)(void *context, const struct python_stack *stack),
                        struct error *error) MUST_CHECK;
/* Returns when nothing more is delivered. */
void python_watch_stop(void);

#endif
