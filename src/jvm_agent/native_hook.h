/*
 * native_hook.h - puts our function in the place of a native method of the JDK.
 *
 * Threads: one at a time; not in a handler. A method that was replaced stays so until the process ends.
 */
#ifndef JVM_AGENT_NATIVE_HOOK_H
#define JVM_AGENT_NATIVE_HOOK_H

#include <jvmti.h>
#include <stdbool.h>

/* False when the JVM refuses; no exception is left behind. */
bool native_hook_replace(JNIEnv *environment, jclass target, const char *name, const char *signature,
                         void *function);
/* The function that the class registers for its method; NULL when it has none of its own registerNatives(). */
void *native_hook_original(JNIEnv *environment, jclass target, const char *name, const char *signature);

#endif
