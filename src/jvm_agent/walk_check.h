/*
 * walk_check.h - looks, before the first sample, whether this JVM's structures lie where the walker takes them to be: by
 * frames and methods whose truth the JVM itself tells.
 *
 * Threads: a Java thread, one at a time, not in a handler.
 */
#ifndef JVM_AGENT_WALK_CHECK_H
#define JVM_AGENT_WALK_CHECK_H

#include <jni.h>
#include <stdbool.h>

#include "base/attributes.h"
#include "base/error.h"

/* Walks the calling thread, which Java code has called, and compares methods and places with what JVMTI says. */
bool walk_check_frames(JNIEnv *environment, struct error *error) MUST_CHECK;
/* Compares what compiled methods all over the code heaps say of themselves. True when hardly any is alive. */
bool walk_check_code(struct error *error) MUST_CHECK;

#endif
