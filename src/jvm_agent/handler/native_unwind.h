/*
 * native_unwind.h - unwinds one native frame.
 *
 * Threads: any, including signal handlers; under a fault point (fault_guard.h).
 */
#ifndef JVM_AGENT_NATIVE_UNWIND_H
#define JVM_AGENT_NATIVE_UNWIND_H

#include <stdbool.h>
#include <stdint.h>

#include "jvm_agent/vm/machine.h"

/* Called before the first walk, not in a handler. */
void native_unwind_prepare(void);
/* Replaces `registers` by the caller's; false on failure. *function: start of the function, 0 if unknown. */
bool native_unwind(struct frame_registers *registers, bool interrupted, uintptr_t stack_end,
                   uintptr_t *function);

#endif
