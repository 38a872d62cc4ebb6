/*
 * native_sampler.h - samples the code of processes, or of the whole machine, with the kernel's perf events: user stacks
 * walked from copies while the recording runs, and the kernel's stacks. Nothing is written to disk, nobody is paused.
 *
 * Owns: the events and all that is known of processes and files, until native_sampler_free(). The profile is the
 * caller's and must not be used by others meanwhile.
 * Threads: one at a time; native_sampler_run() may be stopped, and native_sampler_live() asked, from others.
 */
#ifndef NATIVE_SAMPLER_NATIVE_SAMPLER_H
#define NATIVE_SAMPLER_NATIVE_SAMPLER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/attributes.h"
#include "base/error.h"
#include "model/profile.h"
#include "native_sampler/perf_event_choice.h"

enum native_sampler_kind {
    NATIVE_EVENT,   /* samples of an event: processor time, page faults */
    NATIVE_WALL,    /* all time of threads: samples of processor time, and each wait */
    NATIVE_OFF_CPU, /* each wait */
};

struct native_sampler_options {
    enum native_sampler_kind kind;
    struct perf_event_choice event; /* of NATIVE_EVENT */
    int64_t interval_ns;
    uint64_t
        count; /* one sample for so many events; 0: each, of hardware events by the interval. Not for clocks */
    const pid_t *pids;
    size_t pid_count;
    const pid_t *excluded; /* sampled by others, though a child of these */
    size_t excluded_count;
    bool whole_machine;   /* instead of pids */
    bool follow_children; /* also processes that they have started or will start */
    bool starts_on_exec;  /* the processes wait for their exec */
    bool
        leaves_out_python; /* processes with the Python interpreter are sampled by others; not those of pids that
                               ran when the recording began */
    bool group_by_thread;  /* the thread as outermost frame */
    bool group_by_process; /* the process as outermost frame */
};

struct native_sampler_statistics {
    uint64_t samples;
    uint64_t left_out;      /* samples of Python processes */
    uint64_t forbidden;     /* processes that the given ones had started and that may not be sampled */
    uint64_t lost;          /* samples, since the rings were full */
    uint64_t lost_changes;  /* starts, exits, names and mappings; processes then show up without names */
    uint64_t cut;           /* stacks larger than their copy */
    uint64_t broken;        /* stacks with code that has neither rule nor frame pointer */
    uint64_t waits;         /* of threads, with how long */
    uint64_t unknown_waits; /* of these, ones without stack */
    uint64_t lost_switches; /* between running and waiting */
    uint64_t lost_wakers;   /* of waits; these then last until their threads run */
    uint64_t woken_waits;   /* of waits, ones whose waker is known */
    const char *no_wakers;  /* why wakers are not known; NULL: they are, or are not wanted */
    uint64_t throttled;     /* times that the kernel interrupted sampling to protect itself */
    bool has_kernel;        /* else time in the kernel is missing */
    bool has_wait_stacks;   /* else only those of long waits are known */
    bool has_kernel_names;  /* else frames of the kernel are "[unknown]" */
    bool failed;            /* out of memory; later samples are missing */
};

struct native_sampler;

/* Sampling begins. NULL with an error, which names the setting that does not allow it. */
struct native_sampler *native_sampler_new(const struct native_sampler_options *options,
                                          struct profile *profile, struct error *error);
/* Adds samples to the profile until *stop is set, and then those that are left. */
void native_sampler_run(struct native_sampler *sampler, const atomic_bool *stop);
/* The same in steps, in the caller's thread: takes what the rings have, and says how long they may be left. */
int64_t native_sampler_take(struct native_sampler *sampler);
/* How many of the processes run. */
size_t native_sampler_live(const struct native_sampler *sampler);
struct native_sampler_statistics native_sampler_statistics(const struct native_sampler *sampler);
void native_sampler_free(struct native_sampler *sampler);

#endif
