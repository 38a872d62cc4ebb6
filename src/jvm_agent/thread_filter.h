/*
 * thread_filter.h - which threads the wall clock looks at, by their ids.
 *
 * Threads: set while no engine runs; asked by the engine's thread.
 * Limit: THREAD_FILTER_RANGES ranges.
 */
#ifndef JVM_AGENT_THREAD_FILTER_H
#define JVM_AGENT_THREAD_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

enum { THREAD_FILTER_RANGES = 256 };

/* "120-127;132;134"; NULL: all threads. */
bool thread_filter_set(const char *text, struct error *error) MUST_CHECK;
bool thread_filter_accepts(int32_t tid);

#endif
