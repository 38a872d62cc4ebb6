/*
 * thread_names.h - thread names by thread id, including those of ended threads, for outputs.
 *
 * Owns: the names, until thread_names_clear(), or until thread_names_renew() finds the thread ended for the second
 * time.
 * Threads: any, but not signal handlers; has its own lock.
 * Limit: THREAD_NAMES_LIMIT_BYTES, or the value of thread_names_limit(); beyond it a thread keeps its previous name, or
 * none, and thread_names_refused() counts it.
 */
#ifndef JVM_AGENT_THREAD_NAMES_H
#define JVM_AGENT_THREAD_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define THREAD_NAMES_LIMIT_BYTES ((size_t)64 << 20)

struct thread_name {
    const char *text; /* null-terminated */
    int64_t java_id;  /* 0: not a Java thread */
    uint32_t version; /* changes when the thread is renamed */
    uint64_t left_ns; /* when Java code ended in the thread; 0: not yet */
    bool was_gone;    /* at the last renewal */
};

/* From now on. */
void thread_names_limit(size_t limit_bytes);
size_t thread_names_bytes(void);
uint64_t thread_names_refused(void);
/* Removes threads that had already ended at the last renewal and have no more samples. No text may be in use
 * meanwhile. */
void thread_names_renew(void);

void thread_names_set(int32_t tid, const char *name, int64_t java_id);
/* False if no name is known; the text is valid until thread_names_clear() or thread_names_renew(). */
bool thread_names_get(int32_t tid, struct thread_name *name);
/* Java code has ended in the thread, which exists a moment longer and had the name until its end. */
void thread_names_leave(int32_t tid);
/* The operating system's name, for threads that have no other. */
void thread_names_learn_native(int32_t tid);
void thread_names_clear(void);

#endif
