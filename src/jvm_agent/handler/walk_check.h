/*
 * walk_check.h - checks before the first sample that this JVM's structures are where the walker expects them, by frames
 * and methods that the JVM itself reports.
 *
 * Threads: a Java thread, one at a time, not in a handler.
 */
#ifndef JVM_AGENT_WALK_CHECK_H
#define JVM_AGENT_WALK_CHECK_H

#include <jni.h>
#include <stdbool.h>

/* Turns the walker off if it disagrees with the JVM about the current stack or about compiled methods. Once; the
 * calling thread was called by Java code. */
void walk_check_run(JNIEnv *environment);
/* The check has run, or the walker is off. */
bool walk_check_is_done(void);

#endif
