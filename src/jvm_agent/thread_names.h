/*
 * thread_names.h - names of threads by thread id, also of ended ones, for the outputs.
 *
 * Owns: the names, until thread_names_clear().
 * Threads: any, but no signal handler; has a lock of its own.
 * Limit: THREAD_NAMES_LIMIT_BYTES of text; then the older name stays.
 */
#ifndef JVM_AGENT_THREAD_NAMES_H
#define JVM_AGENT_THREAD_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define THREAD_NAMES_LIMIT_BYTES ((size_t)64 << 20)

struct thread_name {
    const char *text; /* ends with zero */
    int64_t java_id;  /* 0: not a Java thread */
    uint32_t version; /* changes when the thread gets another name */
    uint64_t left_ns; /* when Java code had ended in it; 0: it has not */
};

void thread_names_set(int32_t tid, const char *name, int64_t java_id);
/* False when no name is known; the text stays until thread_names_clear(). */
bool thread_names_get(int32_t tid, struct thread_name *name);
/* Java code has ended in the thread, which is still there for a moment, and had the name to its end. */
void thread_names_leave(int32_t tid);
/* The operating system's name, for threads that have no other. */
void thread_names_learn_native(int32_t tid);
void thread_names_clear(void);

#endif
