/*
 * features.h - optional frames, enabled by name: features=vtable+comptask.
 *
 * vtable: the receiver class of a vtable or itable stub. comptask: the method that a compiler thread compiles.
 *
 * Threads: features_choose() while nothing is sampled; features_add() in signal handlers, sets its own fault point.
 */
#ifndef JVM_AGENT_FEATURES_H
#define JVM_AGENT_FEATURES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "jvm_agent/frame.h"
#include "jvm_agent/thread_table.h"
#include "jvm_agent/vm/method_table.h"

/* "vtable+comptask" or NULL. Other features of async-profiler are accepted without effect; unknown ones fail. */
bool features_choose(const char *text, struct error *error) MUST_CHECK;
/* Adds a frame to `frames`, which has space for one more, and returns the new depth. */
uint32_t features_add(struct thread_record *record, const void *context, struct method_table *methods,
                      frame_word *frames, uint32_t depth);

#endif
