/*
 * thread_pages.h - where thread_table.c and thread_find_async_safe.c meet: thread id to record, in two steps.
 */
#ifndef JVM_AGENT_THREAD_PAGES_H
#define JVM_AGENT_THREAD_PAGES_H

#include "jvm_agent/thread_table.h"

/* Linux gives thread ids below 2^22. */
#define THREAD_PAGES 4096u
#define THREAD_PAGE_SLOTS 1024u

typedef _Atomic(struct thread_record *) thread_slot;

extern _Atomic(thread_slot *) thread_pages[THREAD_PAGES];

#endif
