/*
 * walk_trial.h - ensures that the walker is checked on a known stack before it is used (walk_check.h).
 *
 * Usually that has happened when a native method of the JDK was replaced (native_hook.h). If that is not possible, Java
 * code is made to load a class, and the walker is checked in the JVM's event. A walker that cannot be checked is off.
 *
 * Threads: a Java thread, one at a time.
 */
#ifndef JVM_AGENT_WALK_TRIAL_H
#define JVM_AGENT_WALK_TRIAL_H

#include <jvmti.h>

/* Leaves no pending exception. */
void walk_trial_make(JNIEnv *environment);
/* Called from the JVM's event. */
void JNICALL walk_trial_on_load(jvmtiEnv *tools, JNIEnv *environment, jthread thread, jclass loaded);

#endif
