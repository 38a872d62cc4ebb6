/*
 * java_vm.h - the JVM around us: its interfaces, threads and events.
 *
 * Threads: java_vm_open() once; the rest from any thread, but no signal handler.
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
    bool initialized; /* Java code runs */
    bool dying;
    bool own_walker;             /* the layout passed its self-test */
    char walker_fault[256];      /* why not */
    intptr_t environment_offset; /* from JavaThread to its JNIEnv */
};

extern struct java_vm java_vm;

/* `live`: the JVM runs, or is about to, which is waited for. */
bool java_vm_open(JavaVM *machine, bool live, struct error *error) MUST_CHECK;
/* When Java code can run: finds threads, checks the layout. */
/* Turns the own walker off when it does not find what the JVM says of the current stack. */
void java_vm_check_walker(JNIEnv *environment);
bool java_vm_ready(JNIEnv *environment, struct error *error) MUST_CHECK;
/* The calling thread's JNI interface, NULL when it is not attached. */
JNIEnv *java_vm_environment(void);
/* Attaches the calling thread as a daemon of that name; NULL when the JVM refuses. */
JNIEnv *java_vm_attach(const char *name);
void java_vm_detach(void);
/* Makes records for all Java threads that exist, and learns their names. */
void java_vm_scan_threads(JNIEnv *environment);
/* java.lang.Thread's own id, 0 when not known. */
int64_t java_vm_thread_number(JNIEnv *environment, jthread thread);
void java_vm_enable(jvmtiEvent event, bool enable);

#endif
