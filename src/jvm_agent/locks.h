/*
 * locks.h - how long threads wait to enter monitors.
 *
 * Threads: start and stop one at a time; the events on any thread.
 */
#ifndef JVM_AGENT_LOCKS_H
#define JVM_AGENT_LOCKS_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "jvm_agent/sample_ring.h"

/* Waits shorter than the threshold are left out. */
bool locks_start(uint64_t threshold_ns, struct error *error) MUST_CHECK;
void locks_stop(void);
/* The calling thread has waited for the lock since then; `signature` is its class's. */
void locks_take_sample(JNIEnv *environment, enum sample_kind kind, jobject lock, const char *signature,
                       uint64_t began_ns);
void JNICALL locks_on_wait(jvmtiEnv *tools, JNIEnv *environment, jthread thread, jobject monitor);
void JNICALL locks_on_entered(jvmtiEnv *tools, JNIEnv *environment, jthread thread, jobject monitor);

#endif
