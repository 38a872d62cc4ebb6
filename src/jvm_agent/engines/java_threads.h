/*
 * java_threads.h - the Java threads that were there before the agent.
 *
 * Threads: any that is attached to the JVM, but no signal handler.
 */
#ifndef JVM_AGENT_JAVA_THREADS_H
#define JVM_AGENT_JAVA_THREADS_H

#include <jni.h>

/* Makes records for all Java threads that exist, and learns their names. */
void java_threads_scan(JNIEnv *environment);

#endif
