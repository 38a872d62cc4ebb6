/*
 * vm_events.h - the JVM's events that the agent listens to.
 */
#ifndef JVM_AGENT_VM_EVENTS_H
#define JVM_AGENT_VM_EVENTS_H

#include "base/error.h"

/* `live`: loaded into a running JVM, so that what happened before is asked for. */
bool vm_events_install(bool live, struct error *error) MUST_CHECK;
/* From here on each Java thread's start and end is noted. Only when java_vm_ready(). */
void vm_events_watch_threads(void);

#endif
