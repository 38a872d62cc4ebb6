/*
 * fault_install.h - shared by fault_guard.c and fault_guard_async_safe.c.
 */
#ifndef JVM_AGENT_FAULT_INSTALL_H
#define JVM_AGENT_FAULT_INSTALL_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct fault_install {
    uintptr_t code_begin, code_end; /* this library's instructions */
    struct sigaction previous_segv, previous_bus;
    _Atomic uint64_t count;
    bool installed;
};

extern struct fault_install fault_install;

void fault_guard_handle(int signal_number, siginfo_t *info, void *context);

#endif
