/*
 * native_memory.h - samples of malloc() and related functions, and of the release of sampled memory.
 *
 * The functions are hooked in the import tables of all libraries except this one. One allocation in every `interval`
 * bytes is sampled with its stack; releases are recorded only for sampled allocations, so that the rest is leaked or in
 * use.
 *
 * Threads: native_memory_start() and _stop() one at a time; the functions themselves from anywhere.
 * Limit: NATIVE_MEMORY_FOLLOWED allocations not yet released; further ones are not sampled.
 */
#ifndef JVM_AGENT_NATIVE_MEMORY_H
#define JVM_AGENT_NATIVE_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

#define NATIVE_MEMORY_FOLLOWED ((uint32_t)1 << 17)

bool native_memory_start(uint64_t interval_bytes, bool releases, struct error *error) MUST_CHECK;
void native_memory_stop(void);

#endif
