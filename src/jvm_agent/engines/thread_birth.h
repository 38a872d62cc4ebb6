/*
 * thread_birth.h - detects each thread at its start: threads of the JVM, including compilers and garbage collectors,
 * which JVMTI does not report, and those of libraries.
 *
 * Threads: one at a time.
 */
#ifndef JVM_AGENT_THREAD_BIRTH_H
#define JVM_AGENT_THREAD_BIRTH_H

#include <stdbool.h>

/* Calls thread_watch_born() on each new thread, from the next library_watch_update() on. `alone`: nothing else scans
 * for threads meanwhile. */
void thread_birth_watch(bool alone);
/* Takes effect with the next library_watch_update(). */
void thread_birth_unwatch(void);

#endif
