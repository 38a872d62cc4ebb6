/*
 * java_fallback.h - Java frames from HotSpot's AsyncGetCallTrace, if our walker does not know the JVM's layout or is
 * not wanted (cstack=no, cstack=fp, features=agct).
 *
 * The JVM returns method ids only for classes whose ids were requested before: java_fallback_open() requests them for
 * all loaded classes and for each class when it is prepared. Names are resolved later, by java_fallback_name_methods().
 *
 * Threads: java_fallback_walk() in the handler of the walked thread; the rest one at a time and not in a handler.
 */
#ifndef JVM_AGENT_JAVA_FALLBACK_H
#define JVM_AGENT_JAVA_FALLBACK_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "jvm_agent/frame.h"
#include "jvm_agent/thread_table.h"
#include "jvm_agent/vm/method_table.h"

#define JAVA_FALLBACK_DEPTH_LIMIT 512

bool java_fallback_open(JNIEnv *environment, struct error *error) MUST_CHECK;
/* Requests the method ids of a class that was just prepared. */
void JNICALL java_fallback_on_prepare(jvmtiEnv *tools, JNIEnv *environment, jthread thread, jclass prepared);
/* Resolves names of methods found since the last call. The calling thread must be attached to the JVM. */
void java_fallback_name_methods(struct method_table *methods);

/* Fills frames, leaf first, and returns their number. context: the handler's ucontext_t, or NULL in a call from
 * Java. */
uint32_t java_fallback_walk(const struct thread_record *record, const void *context,
                            struct method_table *methods, frame_word *frames, uint32_t depth_limit);

#endif
