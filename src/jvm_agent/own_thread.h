/*
 * own_thread.h - the agent's own threads: no signal reaches them, and they are never sampled.
 */
#ifndef JVM_AGENT_OWN_THREAD_H
#define JVM_AGENT_OWN_THREAD_H

#include <pthread.h>
#include <stdbool.h>

bool own_thread_start(pthread_t *thread, void *(*run)(void *context), void *context);
/* To be called first and last by the thread itself. */
void own_thread_enter(void);
void own_thread_leave(void);

#endif
