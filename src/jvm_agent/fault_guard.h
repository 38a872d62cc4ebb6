/*
 * fault_guard.h - lets a handler read memory that may not be there.
 *
 *     struct fault_point point;
 *     if (fault_point_set(&point) == 0) { record->fault_point = &point; ... } else { it faulted }
 *     record->fault_point = NULL;
 *
 * A fault (SIGSEGV, SIGBUS) whose instruction lies in this library and whose thread has a fault point continues there;
 * all others go to the handler that was there before, the JVM's. Between the two no function of another library may
 * be called, since its faults would not be known as ours.
 *
 * Threads: install and remove one at a time.
 */
#ifndef JVM_AGENT_FAULT_GUARD_H
#define JVM_AGENT_FAULT_GUARD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* What a called function must keep, the stack pointer and the return address. */
struct fault_point {
    uintptr_t saved[8];
};

bool fault_guard_install(struct error *error) MUST_CHECK;
uint64_t fault_guard_count(void);

#endif
