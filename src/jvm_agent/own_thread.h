/*
 * own_thread.h - the agent's own threads: they block all signals except those of faults and SIGPROF, and are never
 * sampled.
 */
#ifndef JVM_AGENT_OWN_THREAD_H
#define JVM_AGENT_OWN_THREAD_H

#include <pthread.h>
#include <stdbool.h>

bool own_thread_start(pthread_t *thread, void *(*run)(void *context), void *context);
/* Called by the thread itself, first and last. */
void own_thread_enter(void);
void own_thread_leave(void);

#endif
