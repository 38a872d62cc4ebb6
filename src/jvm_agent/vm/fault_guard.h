/*
 * fault_guard.h - lets a handler read memory that may be unmapped.
 *
 *     struct fault_point point;
 *     if (fault_point_set(&point) == 0) { record->fault_point = &point; ... } else { it faulted }
 *     record->fault_point = NULL;
 *
 * A fault (SIGSEGV, SIGBUS) at an instruction of this library, in a thread with a fault point, continues at that point;
 * all others are passed to the previous handler, the JVM's. No function of another library may be called under a fault
 * point: its faults would not be recognized.
 *
 * Threads: install and remove one at a time.
 */
#ifndef JVM_AGENT_FAULT_GUARD_H
#define JVM_AGENT_FAULT_GUARD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* Callee-saved registers, stack pointer and return address. */
#if defined(__aarch64__)
enum { FAULT_POINT_REGISTERS = 13 };
#else
enum { FAULT_POINT_REGISTERS = 8 };
#endif
struct fault_point {
    uintptr_t saved[FAULT_POINT_REGISTERS];
};

bool fault_guard_install(struct error *error) MUST_CHECK;
/* A fault whose signal is blocked ends the process, so both signals are unblocked. Returns whether they were blocked
 * in the interrupted context; they stay unblocked until the mask of the context is restored. */
bool fault_guard_unblock(const void *context);
/* Runs it under a fault point, not in a handler. False: it faulted, or could not be run. */
bool fault_guard_call(void (*run)(void *context), void *context) MUST_CHECK;
uint64_t fault_guard_count(void);

#endif
