/*
 * threads.h - runs the same work on several threads.
 */
#ifndef BASE_THREADS_H
#define BASE_THREADS_H

#include <stdbool.h>
#include <stddef.h>

/* Calls work(context, i) for each i below count, each on a thread of its own (i = 0 on the caller's), and waits.
 * A thread that cannot be started has its part run by the caller. */
void threads_run(size_t count, void (*work)(void *context, size_t index), void *context);
/* Processors that this process may use: affinity mask and cgroup quota; at least 1. */
size_t threads_available(void);

#endif
