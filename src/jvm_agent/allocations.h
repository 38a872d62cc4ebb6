/*
 * allocations.h - allocation samples of the JVM's own sampler, and which of the sampled objects are still alive.
 *
 * Owns: weak references to sampled objects, from start to stop, when live objects are wanted.
 * Threads: start, stop and report one at a time, on threads that the JVM knows; the event on any.
 * Limit: LIVE_OBJECT_LIMIT objects; when all are alive, newer ones are not followed, and counted.
 */
#ifndef JVM_AGENT_ALLOCATIONS_H
#define JVM_AGENT_ALLOCATIONS_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

#define LIVE_OBJECT_LIMIT 16384

/* Before the JVM has threads: each of them counts from its beginning on. */
bool allocations_prepare(uint64_t interval_bytes, struct error *error) MUST_CHECK;
bool allocations_start(uint64_t interval_bytes, bool live, bool outside, struct error *error) MUST_CHECK;
void allocations_stop(void);
/* Puts a sample for each object that is alive into the ring, and forgets all. */
void allocations_report_live(void);
void JNICALL allocations_on_sample(jvmtiEnv *tools, JNIEnv *environment, jthread thread, jobject object,
                                   jclass object_class, jlong size);

#endif
