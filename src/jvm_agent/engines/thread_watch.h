/*
 * thread_watch.h - applies the per-thread engine to every thread of the process.
 *
 * Threads register at their start, and those of Java and of libraries also at their end; all others are found in
 * /proc/self/task.
 *
 * Threads: any, but not signal handlers; has its own lock.
 */
#ifndef JVM_AGENT_THREAD_WATCH_H
#define JVM_AGENT_THREAD_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jvm_agent/engines/engine.h"

/* True while a recording is running: threads register at their start. */
void thread_watch_run(bool run);
bool thread_watch_is_on(void);
/* Switches to this engine (or none): known threads are removed from the old one and added to it. */
void thread_watch_use(const struct engine *engine);
/* Called on the thread itself. */
void thread_watch_started(uintptr_t java_thread);
void thread_watch_ended(void);
/* The same for any thread, if samples are taken; its name is set later. */
void thread_watch_born(void);
/* A Java thread that existed before the agent. */
void thread_watch_found(int32_t tid, uintptr_t java_thread);
/* It has ended since. */
void thread_watch_lost(int32_t tid, uintptr_t java_thread);
/* The number of threads of the process; 0: unknown. */
size_t thread_watch_number(void);
/* Finds new threads and removes those that have ended. */
void thread_watch_scan(void);
/* The same, but usually only if the number of threads has changed. Updates names. */
void thread_watch_refresh(void);

#endif
