/*
 * allocations.h - samples of the JVM's allocation sampler, and the sampled objects that are still alive.
 *
 * Owns: weak references to sampled objects, from start to stop, if live objects are recorded.
 * Threads: start, stop and report one at a time, on threads attached to the JVM; the event on any thread.
 * Limit: LIVE_OBJECT_LIMIT objects; when all of them are alive, newer ones are not followed but counted.
 */
#ifndef JVM_AGENT_ALLOCATIONS_H
#define JVM_AGENT_ALLOCATIONS_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "jvm_agent/handler/recording_tables.h"

#define LIVE_OBJECT_LIMIT 16384

/* Called before the JVM has threads, so that each thread is sampled from its start. */
bool allocations_prepare(uint64_t interval_bytes, struct error *error) MUST_CHECK;
bool allocations_start(uint64_t interval_bytes, bool live, bool outside, struct error *error) MUST_CHECK;
void allocations_stop(void);
/* Puts a sample of each live object into the ring and releases all references. */
void allocations_report_live(void);
/* Copies the stacks of followed objects into the renewed tables. No event may use the old tables. */
void allocations_renew(struct recording_tables *fresh, struct recording_tables *old);
void JNICALL allocations_on_sample(jvmtiEnv *tools, JNIEnv *environment, jthread thread, jobject object,
                                   jclass object_class, jlong size);

#endif
