/*
 * thread_table.h - what the agent knows of each thread, found by thread id from within a signal handler.
 *
 * Owns: the records, for the life of the process; ended ones are used again.
 * Threads: thread_table_find() from anywhere; thread_table_add(), _remove() and _each() take a lock and never run in
 *          a handler. A record's handler fields belong to its own thread.
 */
#ifndef JVM_AGENT_THREAD_TABLE_H
#define JVM_AGENT_THREAD_TABLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct fault_point;

#define NO_TIMER (-1)

struct thread_record {
    _Atomic int32_t tid;
    _Atomic uintptr_t java_thread;   /* HotSpot's JavaThread, 0 for others and after the thread's end */
    struct fault_point *fault_point; /* set while its handler reads memory that may vanish */
    _Atomic uint32_t tag;            /* number in the tag table, 0: none */
    uint64_t tag_since_ns;           /* CLOCK_MONOTONIC */
    _Atomic bool own;                /* one of the agent's threads, never sampled */
    int32_t timer;                   /* kernel timer id, or NO_TIMER */
    int32_t perf_descriptor;         /* or -1 */
    _Atomic bool perf_first;         /* its next event ends the first, shorter interval */
    void *_Atomic perf_ring;         /* what the kernel tells of its events, or NULL */
    int32_t window_descriptors[2];   /* breakpoints of begin and end; 0 or less: none */
    uint64_t rest_until_ns;          /* until then the handler leaves the processor to the thread */
    uint32_t owed_events;            /* that came meanwhile, for the next sample */
    _Atomic uint32_t wall_trace;     /* stack of the last wall-clock sample */
    _Atomic uint32_t wall_idle_samples;
    _Atomic uint64_t wall_cpu_ns; /* thread's CPU clock after that sample */
    uint64_t wall_since_ns;
    uint64_t lock_wait_since_ns;
    _Atomic uint64_t last_sample_ns; /* CLOCK_MONOTONIC; Java code may read it */
    bool nameless;                   /* so far */
    uint32_t scan;                   /* last scan of /proc/self/task that saw it */
    struct thread_record *next_free;
};

/* NULL for a thread that is not known. */
struct thread_record *thread_table_find(int32_t tid);
/* The record of this thread id, made if needed. NULL: out of memory. */
struct thread_record *thread_table_add(int32_t tid);
void thread_table_remove(int32_t tid);
size_t thread_table_count(void);
/* Calls visit for every record, under the table's lock. */
void thread_table_each(void (*visit)(struct thread_record *record, void *context), void *context);

int32_t thread_own_id(void);

/* The clock of another thread's CPU time, by the kernel's numbering. */
static inline clockid_t thread_cpu_clock(int32_t tid)
{
    return (clockid_t)((~(uint32_t)tid << 3) | 6);
}

#endif
