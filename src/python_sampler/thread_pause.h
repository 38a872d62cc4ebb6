/*
 * thread_pause.h - pauses one thread of another process briefly.
 *
 * The thread is seized, interrupted and detached, never sent SIGSTOP: if we end for any reason, the kernel lets it
 * continue. A signal that arrives meanwhile is delivered to it.
 *
 * Threads: all calls for one thread must come from the same one of ours (a rule of ptrace).
 */
#ifndef PYTHON_SAMPLER_THREAD_PAUSE_H
#define PYTHON_SAMPLER_THREAD_PAUSE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/attributes.h"

struct thread_pause {
    pid_t number;    /* 0: nothing to undo */
    bool is_stopped; /* false: it has not stopped yet, for example in an uninterruptible system call */
    int signal;      /* that arrived meanwhile; 0: none */
};

struct thread_registers {
    uint64_t pc, sp, fp, link;
};

/* False: it has ended, is traced by another process, may not be traced, or does not stop. */
bool thread_pause_begin(struct thread_pause *pause, pid_t number) MUST_CHECK;
void thread_pause_end(struct thread_pause *pause);
/* The thread must be stopped. */
bool thread_pause_registers(const struct thread_pause *pause, struct thread_registers *registers) MUST_CHECK;

#endif
