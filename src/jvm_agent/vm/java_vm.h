/*
 * java_vm.h - the JVM of this process: its interfaces, threads and events.
 *
 * Threads: java_vm_open() once; the rest on any thread, but not in signal handlers.
 */
#ifndef JVM_AGENT_JAVA_VM_H
#define JVM_AGENT_JAVA_VM_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"

struct java_vm {
    JavaVM *machine;
    jvmtiEnv *tools;
    bool initialized;   /* Java code is running */
    char declined[256]; /* why this JVM is not supported; then nothing else is set */
    bool dying;
    bool own_walker;             /* the layout passed its self-test */
    char walker_fault[256];      /* why not */
    intptr_t environment_offset; /* from JavaThread to its JNIEnv */
};

extern struct java_vm java_vm;

/* `live`: the JVM is running or about to, which is waited for. After a failure each call tries again. */
bool java_vm_open(JavaVM *machine, bool live, struct error *error) MUST_CHECK;
/* Turns the own walker off. */
void java_vm_refuse_walker(const char *reason);
/* Called when Java code can run: finds threads, checks the layout. */
bool java_vm_ready(JNIEnv *environment, struct error *error) MUST_CHECK;
/* The calling thread's JNI interface, NULL if it is not attached. */
JNIEnv *java_vm_environment(void);
/* Attaches the calling thread as a daemon thread with that name; NULL on failure. */
JNIEnv *java_vm_attach(const char *name);
void java_vm_detach(void);
/* Creates records of all existing Java threads, with their names. */
uintptr_t java_vm_thread_address(JNIEnv *environment, jthread thread);
int32_t java_vm_native_id(uintptr_t java_thread);
/* java.lang.Thread's own id, 0 when not known. */
int64_t java_vm_thread_number(JNIEnv *environment, jthread thread);
void java_vm_enable(jvmtiEvent event, bool enable);

#endif
