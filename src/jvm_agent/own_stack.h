/*
 * own_stack.h - the stack of a thread that calls us itself, for events that are no interruption.
 *
 * Threads: any; not in a handler.
 */
#ifndef JVM_AGENT_OWN_STACK_H
#define JVM_AGENT_OWN_STACK_H

#include <stdint.h>

#include "jvm_agent/thread_table.h"

/* Begins at the last Java frame; with native frames when they are asked for (cstack=fp, dwarf, vmx), or when there is
   no Java frame. 0: there is no room. */
uint32_t own_stack_take(struct thread_record *record);
/* With native frames in any case. */
uint32_t own_stack_take_native(struct thread_record *record);

#endif
