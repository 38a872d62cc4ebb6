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

/* Waits shorter than the threshold are ignored. */
bool locks_start(uint64_t threshold_ns, struct error *error) MUST_CHECK;
void locks_stop(void);
void JNICALL locks_on_wait(jvmtiEnv *tools, JNIEnv *environment, jthread thread, jobject monitor);
void JNICALL locks_on_entered(jvmtiEnv *tools, JNIEnv *environment, jthread thread, jobject monitor);

#endif
