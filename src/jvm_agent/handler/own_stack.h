/*
 * own_stack.h - the stack of the calling thread, for events other than signals.
 *
 * Threads: any; not in a handler.
 */
#ifndef JVM_AGENT_OWN_STACK_H
#define JVM_AGENT_OWN_STACK_H

#include <stdint.h>

#include "jvm_agent/handler/recording_tables.h"
#include "jvm_agent/thread_table.h"

/* Starts at the last Java frame; with native frames if requested (cstack=fp, dwarf, vmx) or if there is no Java
 * frame. 0: there is no space. */
uint32_t own_stack_take(struct recording_tables *tables, struct thread_record *record);
/* Always with native frames. */
uint32_t own_stack_take_native(struct recording_tables *tables, struct thread_record *record);

#endif
