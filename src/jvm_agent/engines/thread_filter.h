/*
 * thread_filter.h - selects the threads of wall-clock sampling, by id.
 *
 * Threads: set while no engine is running; read by the engine's thread.
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
