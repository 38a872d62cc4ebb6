/*
 * thread_watch.h - keeps the per-thread engine on every thread of the process.
 *
 * Threads come by themselves at their start, and those of Java and of libraries at their end; all others are found in
 * /proc/self/task.
 *
 * Threads: any, but no signal handler; has a lock of its own.
 */
#ifndef JVM_AGENT_THREAD_WATCH_H
#define JVM_AGENT_THREAD_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jvm_agent/engine.h"

/* Whether threads are to be told of at their birth: a recording runs. */
void thread_watch_run(bool run);
bool thread_watch_is_on(void);
/* From now on this engine (or none) is told of threads; those known already are given to it, or taken from the old. */
void thread_watch_use(const struct engine *engine);
/* Called on the thread itself. */
void thread_watch_started(uintptr_t java_thread);
void thread_watch_ended(void);
/* The same for a thread of any kind, if samples are taken; its name comes later. */
void thread_watch_born(void);
/* A Java thread that was there before us. */
void thread_watch_found(int32_t tid, uintptr_t java_thread);
/* How many threads the process has; 0: not known. */
size_t thread_watch_number(void);
/* Finds new threads and forgets those that are gone. */
void thread_watch_scan(void);
/* The same, but most times only if their number shows that there are any. Learns names. */
void thread_watch_refresh(void);

#endif
