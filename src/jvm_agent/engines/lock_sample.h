/*
 * lock_sample.h - a sample of a thread that has waited for a lock, of either kind.
 *
 * Threads: the one that has waited; not in a handler.
 */
#ifndef JVM_AGENT_LOCK_SAMPLE_H
#define JVM_AGENT_LOCK_SAMPLE_H

#include <jni.h>
#include <stdint.h>

#include "jvm_agent/sample.h"

/* The calling thread has waited for the lock since then; `signature` is its class's. */
void lock_sample_take(JNIEnv *environment, enum sample_kind kind, jobject lock, const char *signature,
                      uint64_t began_ns);

#endif
