/*
 * wait_repeat.h - repeats a system call that our signal interrupted.
 *
 * With SA_RESTART the kernel restarts most calls after a handler, but not poll, epoll_wait, select, nanosleep, futex
 * and others that may have a time limit: they fail with EINTR, which code without signal handlers need not expect. Such
 * a call is repeated with the remaining time. The kernel reports the remaining time of some calls; for the others it is
 * counted from the first interruption, so that they may last longer by the time they had waited before, but never
 * shorter.
 *
 * Not repeated: calls whose number is not known; calls outside libc with relative time limits, as the compiler may rely
 * on their argument registers; pause and sigsuspend, which wait for handlers. A handler of the program that ran just
 * before ours, for the same interruption, is not detected: its EINTR is lost, as with any handler that has SA_RESTART.
 *
 * Threads: wait_repeat_prepare() one at a time, before the handlers.
 */
#ifndef JVM_AGENT_WAIT_REPEAT_H
#define JVM_AGENT_WAIT_REPEAT_H

#include <stdint.h>

struct wait_repeat {
    uintptr_t libc_begin, libc_end; /* its code */
};

extern struct wait_repeat wait_repeat;

/* Finds the code of libc. */
void wait_repeat_prepare(void);
/* Called last in our handlers. */
void wait_repeat_after_signal(void *context, uint64_t now_ns);

#endif
