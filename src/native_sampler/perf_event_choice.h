/*
 * perf_event_choice.h - an event of the kernel by the name that perf gives it: clocks, software and hardware counters,
 * caches, raw events, tracepoints.
 *
 * Owns: nothing.
 * Threads: any.
 */
#ifndef NATIVE_SAMPLER_PERF_EVENT_CHOICE_H
#define NATIVE_SAMPLER_PERF_EVENT_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/text_view.h"

#define PERF_EVENT_NAME_BYTES 128

struct perf_event_choice {
    char name[PERF_EVENT_NAME_BYTES]; /* as it was given */
    uint32_t type;
    uint64_t config;
    bool is_clock;     /* one sample for each period of time, which is its weight; else weights are counts */
    bool is_of_kernel; /* happens in the kernel only */
    bool is_of_hardware; /* machines may lack it */
    bool excludes_kernel, excludes_user;
};

/* Processor time, by a clock of the kernel that all machines have. */
extern const struct perf_event_choice perf_event_cpu;

/* "cpu", "page-faults", "cycles:u", "L1-dcache-load-misses", "r1a8", "sched:sched_switch". False: there is no such
 * event, or its tracepoint may not be read. */
bool perf_event_choice_parse(struct perf_event_choice *choice, struct text_view name,
                             struct error *error) MUST_CHECK;

#endif
