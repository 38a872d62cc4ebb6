/*
 * thread_birth.h - tells of each thread at its start: of those that the JVM starts, also its compilers and collectors, which
 * tools do not hear of, and of those that libraries start.
 *
 * Threads: one at a time.
 */
#ifndef JVM_AGENT_THREAD_BIRTH_H
#define JVM_AGENT_THREAD_BIRTH_H

#include <stdbool.h>

/* Calls thread_watch_born() on each new thread of the JVM from now on. `alone`: nobody else scans for threads meanwhile. */
void thread_birth_watch(bool alone);
/* And on each that the libraries start which are there now. */
void thread_birth_patch(void);

#endif
