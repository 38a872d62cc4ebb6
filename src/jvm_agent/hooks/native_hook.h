/*
 * native_hook.h - replaces a native method of the JDK by our function.
 *
 * Threads: one at a time; not in a handler. A replaced method stays replaced until the process ends.
 */
#ifndef JVM_AGENT_NATIVE_HOOK_H
#define JVM_AGENT_NATIVE_HOOK_H

#include <jvmti.h>
#include <stdbool.h>

/* False if the JVM refuses; leaves no pending exception. */
bool native_hook_replace(JNIEnv *environment, jclass target, const char *name, const char *signature,
                         void *function);
/* The function that the class registers for its method; NULL if it does not have its own registerNatives(). */
void *native_hook_original(JNIEnv *environment, jclass target, const char *name, const char *signature);

#endif
