/*
 * perf_events.h - the kernel's perf events that sample processes or the whole machine, with several rings per processor
 * (perf_ring.h), so that a flood of one kind of records displaces no others.
 *
 * Processes: one event of each kind per thread and processor, which later threads and children of the threads inherit;
 * own processes need no privilege. The machine: one of each per processor, also used for processes with very many
 * threads.
 *
 * Owns: descriptors and rings, until perf_events_release().
 * Threads: one at a time.
 */
#ifndef NATIVE_SAMPLER_PERF_EVENTS_H
#define NATIVE_SAMPLER_PERF_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/attributes.h"
#include "base/error.h"
#include "native_sampler/perf_event_choice.h"
#include "native_sampler/perf_record.h"
#include "native_sampler/perf_ring.h"

/* Bytes of each sample's stack: 32 KB hold 95 % of the stacks of Spark's task threads. */
#define PERF_STACK_BYTES ((size_t)32 << 10)

struct perf_request {
    const pid_t *pids; /* all of their threads */
    size_t pid_count;
    size_t root_count;   /* the first ones, which must be there; others may have exited or be forbidden */
    bool whole_machine;  /* instead of pids */
    bool inherits;       /* also processes that they start */
    bool starts_on_exec; /* the processes wait for their exec, and are sampled from it on */
    bool wants_samples;  /* of the chosen event */
    bool wants_waits;    /* switches of threads, and stacks at them */
    struct perf_event_choice choice;
    int64_t period_ns;
    uint64_t count; /* of events from one sample to the next, of which samples say nothing; 0: by time */
};

struct perf_opened {
    int descriptor;
    enum perf_ring_role role;
};

struct perf_events {
    struct perf_opened *opened;
    size_t count, capacity;
    struct perf_ring *rings;
    size_t ring_count;
    size_t forbidden; /* processes other than roots */
    bool has_kernel;  /* else time in the kernel is missing */
    bool has_wait_stacks;
    bool has_wakers;
    const char *no_wakers; /* why not; NULL: they were not asked for, or are there */
    struct perf_waking_format waking;
};

/* Release the events in any case. The error names the setting that does not allow them. */
bool perf_events_open(struct perf_events *events, const struct perf_request *request,
                      struct error *error) MUST_CHECK;
/* No new records; those in the rings stay. */
void perf_events_stop(struct perf_events *events);
/* All records that found no room in rings of this kind, also the last ones; 0 before Linux 6.0. The kernel puts a
 * record of that into the ring only with the next one that fits. */
uint64_t perf_events_lost(const struct perf_events *events, enum perf_ring_role role);
void perf_events_release(struct perf_events *events);

/* errno of one event for this process (-1: all, of processor 0), 0: allowed. */
int perf_events_try(pid_t pid, bool with_kernel);

#endif
