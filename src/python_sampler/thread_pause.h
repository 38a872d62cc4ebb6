/*
 * thread_pause.h - stops one thread of another process for an instant.
 *
 * The thread is seized, interrupted and let go again, never sent SIGSTOP: whatever becomes of us, the kernel lets it
 * run on. A signal that arrives in between is passed on to it.
 *
 * Threads: all calls for one thread must come from the same one of ours, as the kernel wants it.
 */
#ifndef PYTHON_SAMPLER_THREAD_PAUSE_H
#define PYTHON_SAMPLER_THREAD_PAUSE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/attributes.h"

struct thread_pause {
    pid_t number; /* 0: nothing to undo */
    bool
        is_stopped; /* false: it was asked to stop and has not done so yet, as in a kernel call that nothing ends */
    int signal; /* that arrived meanwhile; 0: none */
};

struct thread_registers {
    uint64_t pc, sp, fp, link;
};

/* False: it ended, somebody else traces it, we may not, or it does not stop. */
bool thread_pause_begin(struct thread_pause *pause, pid_t number) MUST_CHECK;
void thread_pause_end(struct thread_pause *pause);
/* Of a thread that is stopped. */
bool thread_pause_registers(const struct thread_pause *pause, struct thread_registers *registers) MUST_CHECK;

#endif
