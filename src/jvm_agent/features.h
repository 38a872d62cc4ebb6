/*
 * features.h - frames that are asked for by name: features=vtable+comptask.
 *
 * vtable: the class whose method is looked up in a vtable or itable stub. comptask: the method that a compiler thread
 * compiles.
 *
 * Threads: features_choose() when nothing is sampled; features_add() in signal handlers, under a fault point of its own.
 */
#ifndef JVM_AGENT_FEATURES_H
#define JVM_AGENT_FEATURES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "jvm_agent/frame.h"
#include "jvm_agent/thread_table.h"

/* "vtable+comptask" or NULL. What async-profiler knows, too, is taken and does nothing; others are refused. */
bool features_choose(const char *text, struct error *error) MUST_CHECK;
/* Adds to the `depth` frames, which have room for one more, and returns how many there are. */
uint32_t features_add(struct thread_record *record, const void *context, frame_word *frames, uint32_t depth);

#endif
