/*
 * thread_pages.h - shared by thread_table.c and thread_find_async_safe.c: two-level map from thread id to record.
 */
#ifndef JVM_AGENT_THREAD_PAGES_H
#define JVM_AGENT_THREAD_PAGES_H

#include <stdatomic.h>

struct thread_record;

/* Thread ids of Linux are below 2^22. */
#define THREAD_PAGES 4096u
#define THREAD_PAGE_SLOTS 1024u

typedef _Atomic(struct thread_record *) thread_slot;

extern _Atomic(thread_slot *) thread_pages[THREAD_PAGES];

#endif
