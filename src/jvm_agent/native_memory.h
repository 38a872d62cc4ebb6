/*
 * native_memory.h - samples of malloc() and its kin, and of the release of what was sampled.
 *
 * Calls are seen by putting our functions into the tables through which libraries call each other; this library's own
 * stay as they are. Every `interval` bytes one allocation is taken with its stack; a release is recorded for these
 * only, so that what remains are leaks or still in use.
 *
 * Threads: native_memory_start(), _stop() and _patch() one at a time; the functions themselves from anywhere.
 * Limit: NATIVE_MEMORY_FOLLOWED allocations not yet released; more are not taken.
 */
#ifndef JVM_AGENT_NATIVE_MEMORY_H
#define JVM_AGENT_NATIVE_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

#define NATIVE_MEMORY_FOLLOWED ((uint32_t)1 << 17)

bool native_memory_start(uint64_t interval_bytes, bool releases, struct error *error) MUST_CHECK;
void native_memory_stop(void);
/* Sees to libraries that were loaded since. */
void native_memory_patch(void);

#endif
