/*
 * java_fallback.h - Java frames by HotSpot's own AsyncGetCallTrace, where this library's walker does not know the JVM's
 * layout, or is not wanted (cstack=no, cstack=fp, features=agct).
 *
 * The JVM tells method ids only of classes whose ids were asked for before: from java_fallback_open() on each class is,
 * when it is prepared. Names are asked for later, by java_fallback_name_methods().
 *
 * Threads: java_fallback_walk() in the handler of the thread that is walked; the rest one at a time and in no handler.
 */
#ifndef JVM_AGENT_JAVA_FALLBACK_H
#define JVM_AGENT_JAVA_FALLBACK_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "jvm_agent/frame.h"
#include "jvm_agent/method_table.h"
#include "jvm_agent/thread_table.h"

#define JAVA_FALLBACK_DEPTH_LIMIT 512

bool java_fallback_open(JNIEnv *environment, struct error *error) MUST_CHECK;
/* Asks for the method ids of a class that was just prepared. */
void JNICALL java_fallback_on_prepare(jvmtiEnv *tools, JNIEnv *environment, jthread thread, jclass prepared);
void JNICALL java_fallback_on_load(jvmtiEnv *tools, JNIEnv *environment, jthread thread, jclass loaded);
/* Names of the methods that were found since the last call. The calling thread must be attached to the JVM. */
void java_fallback_name_methods(struct method_table *methods);

/* Fills frames, leaf first, and returns how many. context: the handler's ucontext_t, or NULL in a call from Java. */
uint32_t java_fallback_walk(const struct thread_record *record, const void *context,
                            struct method_table *methods, frame_word *frames, uint32_t depth_limit);

#endif
