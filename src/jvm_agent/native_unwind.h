/*
 * native_unwind.h - one step out of a native function.
 *
 * Threads: any, also signal handlers; under a fault point (fault_guard.h).
 */
#ifndef JVM_AGENT_NATIVE_UNWIND_H
#define JVM_AGENT_NATIVE_UNWIND_H

#include <stdbool.h>
#include <stdint.h>

#include "jvm_agent/machine.h"

/* Before the first walk, not in a handler. */
void native_unwind_prepare(void);
/* Makes `registers` the caller's; false when that cannot be done. *function: where the function begins, 0 if unknown. */
bool native_unwind(struct frame_registers *registers, bool interrupted, uintptr_t stack_end,
                   uintptr_t *function);

#endif
