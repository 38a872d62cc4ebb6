/*
 * thread_table.h - the agent's record of each thread, found by thread id from a signal handler.
 *
 * Owns: the records, for the life of the process; those of ended threads are reused.
 * Threads: thread_table_find() from anywhere; thread_table_add(), _remove() and _each() take a lock and never run in a
 * handler. A record's handler fields belong to its own thread.
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

/* A wait of the thread that our signal interrupted and that is repeated. */
struct repeated_wait {
    uintptr_t pc, sp;
    uint64_t deadline_ns;      /* CLOCK_MONOTONIC; 0: no wait */
    int32_t set_ms;            /* its time limit, if that is a number */
    struct timespec remaining; /* or the time that a pointer was passed to */
};

struct thread_record {
    _Atomic int32_t tid;
    _Atomic uintptr_t java_thread;   /* HotSpot's JavaThread, 0 for others and after the thread's end */
    struct fault_point *fault_point; /* set while its handler reads memory that may be unmapped */
    _Atomic uint32_t tag;            /* number of its labels, 0: none */
    uint64_t tag_since_ns;           /* CLOCK_MONOTONIC */
    _Atomic bool own;                /* a thread of the agent, never sampled */
    int32_t timer;                   /* kernel timer id, or NO_TIMER */
    int32_t perf_descriptor;         /* or -1 */
    _Atomic bool perf_first;         /* its next event ends the shorter first interval */
    void *_Atomic perf_ring;         /* ring buffer of its perf event, or NULL */
    int32_t window_descriptors[2];   /* breakpoints of begin and end; <= 0: none */
    uint64_t rest_until_ns;          /* until then the handler takes no samples, so that the thread can run */
    _Atomic uint32_t owed_events;    /* events since then, added to the next sample */
    _Atomic bool in_handler;         /* runs one of our handlers */
    _Atomic uint32_t wall_trace;     /* stack of the last wall-clock sample */
    _Atomic uint32_t wall_idle_samples;
    _Atomic uint64_t wall_cpu_ns; /* thread's CPU clock after that sample */
    uint64_t wall_since_ns;
    struct repeated_wait wait;
    uint64_t lock_wait_since_ns;
    _Atomic uint64_t last_sample_ns; /* CLOCK_MONOTONIC; readable by Java code */
    bool nameless;                   /* no name yet */
    uint32_t scan;                   /* last scan of /proc/self/task that saw it */
    struct thread_record *next_free;
};

/* NULL for an unknown thread. */
struct thread_record *thread_table_find(int32_t tid);
/* The record of this thread id, created if necessary. NULL: out of memory. */
struct thread_record *thread_table_add(int32_t tid);
void thread_table_remove(int32_t tid);
size_t thread_table_count(void);
/* Calls visit for every record, under the table's lock. */
void thread_table_each(void (*visit)(struct thread_record *record, void *context), void *context);

int32_t thread_own_id(void);

/* The clock of another thread's CPU time, in the kernel's encoding. */
static inline clockid_t thread_cpu_clock(int32_t tid)
{
    return (clockid_t)((~(uint32_t)tid << 3) | 6);
}

#endif
