/*
 * thread_birth.h - tells of each thread that the JVM starts, at its start: also of its compilers and collectors, which
 * tools do not hear of.
 *
 * Threads: thread_birth_watch() one at a time.
 */
#ifndef JVM_AGENT_THREAD_BIRTH_H
#define JVM_AGENT_THREAD_BIRTH_H

/* Calls thread_watch_born() on each new thread from now on. */
void thread_birth_watch(void);

#endif
