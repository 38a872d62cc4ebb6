/*
 * vm_events.h - the JVM's events that the agent listens to.
 */
#ifndef JVM_AGENT_VM_EVENTS_H
#define JVM_AGENT_VM_EVENTS_H

#include <jvmti.h>
#include <stdbool.h>

#include "base/error.h"

/* What the agent as a whole does. */
struct vm_event_handlers {
    void (*on_init)(JNIEnv *environment); /* Java code can run */
    void (*on_death)(void);
};

/* `live`: loaded into a running JVM, so that what happened before is asked for. The handlers stay. */
bool vm_events_install(bool live, const struct vm_event_handlers *handlers, struct error *error) MUST_CHECK;
/* From here on each Java thread's start and end is noted. Only when java_vm_ready(). */
void vm_events_watch_threads(void);

#endif
