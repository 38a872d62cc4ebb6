/*
 * thread_times.h - when each thread ran and waited, from the kernel's records of switches, starts and ends. Every
 * nanosecond of a thread between its first switch and its end is delivered once, as running or waiting.
 *
 * Records come in the order of time, except that a switch to a thread on one processor may come before the switch from
 * it on another.
 *
 * Owns: its threads, until thread_times_release().
 * Threads: one at a time.
 */
#ifndef NATIVE_SAMPLER_THREAD_TIMES_H
#define NATIVE_SAMPLER_THREAD_TIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/attributes.h"
#include "base/id_map.h"

#define NO_THREAD_STACK UINT32_MAX
#define NO_WAKER UINT32_MAX

enum thread_activity {
    THREAD_UNSEEN, /* since the recording began: no switch yet, so it does one of both */
    THREAD_NEW,    /* has not run yet */
    THREAD_RUNS,
    THREAD_WAITS,
    THREAD_ENDED,
};

enum thread_interval_state {
    THREAD_RUNNING,
    THREAD_WAITING,
    THREAD_PREEMPTED, /* it could run, but another one did */
    THREAD_RUNNABLE,  /* it was woken, but has not run yet */
};

struct thread_time {
    pid_t pid, tid;
    enum thread_activity activity;
    bool was_preempted;
    bool was_asked;           /* its stack, from outside */
    int64_t since_ns;         /* of the activity */
    int64_t next_in_ns;       /* a switch to it whose switch from it has not come yet; 0: none */
    uint32_t wait_stack;      /* of the present or next wait */
    int64_t wait_stack_ns;    /* when it was taken */
    int64_t woken_ns;         /* when the present wait ended for others; 0: not known */
    uint32_t waker;           /* of that, as the caller counts them */
    bool is_stack_of_outside; /* taken while it waited, at wait_stack_ns; else at the switch */
    uint32_t running_stack;   /* of its last sample */
    int64_t running_ns;       /* that no sample stands for yet */
};

struct thread_interval {
    pid_t pid, tid;
    enum thread_interval_state state;
    uint32_t stack; /* NO_THREAD_STACK: not known */
    int64_t start_ns, duration_ns;
    uint32_t waker; /* who ended it; NO_WAKER: not known */
};

struct thread_times {
    int64_t begin_ns; /* of the recording */
    struct thread_time *threads;
    size_t count, capacity;
    struct id_map places; /* by thread */
    /* False: out of memory. */
    bool (*deliver)(void *context, const struct thread_interval *interval);
    void *context;
};

void thread_times_init(struct thread_times *times,
                       bool (*deliver)(void *context, const struct thread_interval *interval), void *context);
void thread_times_release(struct thread_times *times);
/* All return false when out of memory. A thread that is there when the recording begins: */
bool thread_times_add(struct thread_times *times, pid_t pid, pid_t tid) MUST_CHECK;
/* One that starts: */
bool thread_times_start(struct thread_times *times, pid_t pid, pid_t tid) MUST_CHECK;
/* The first program of a process that was not recorded before: it runs. */
bool thread_times_exec(struct thread_times *times, pid_t pid, pid_t tid, int64_t time_ns) MUST_CHECK;
bool thread_times_exit(struct thread_times *times, pid_t tid, int64_t time_ns) MUST_CHECK;
bool thread_times_switch_in(struct thread_times *times, pid_t pid, pid_t tid, int64_t time_ns) MUST_CHECK;
bool thread_times_switch_out(struct thread_times *times, pid_t pid, pid_t tid, int64_t time_ns,
                             bool was_preempted) MUST_CHECK;
/* The stack of the switch from the thread, whose record follows. */
bool thread_times_wait_stack(struct thread_times *times, pid_t pid, pid_t tid, int64_t time_ns,
                             uint32_t stack) MUST_CHECK;
/* A thread that waits is made runnable. Others, and those that are not known, are left as they are. */
void thread_times_woken(struct thread_times *times, pid_t tid, int64_t time_ns, uint32_t waker);
/* Whether thread_times_woken() would keep it. */
bool thread_times_is_waiting(const struct thread_times *times, pid_t tid);
/* A sample of a running thread; it stands for the time since the last one. */
bool thread_times_sample(struct thread_times *times, pid_t pid, pid_t tid, int64_t time_ns,
                         uint32_t stack) MUST_CHECK;
/* Whether the thread waits for this long already, as far as is known, with a stack that is not. */
bool thread_time_lacks_stack(const struct thread_time *thread, int64_t now_ns, int64_t least_ns);
/* A stack that was read at this time while the thread waited. */
void thread_time_set_stack(struct thread_time *thread, uint32_t stack, int64_t read_ns);
/* Delivers what is left. */
bool thread_times_finish(struct thread_times *times, int64_t end_ns) MUST_CHECK;

#endif
