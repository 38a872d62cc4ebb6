/*
 * perf_choice.h - maps an event name to a perf event of the kernel.
 */
#ifndef JVM_AGENT_PERF_CHOICE_H
#define JVM_AGENT_PERF_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text_builder.h"

struct perf_choice {
    uint32_t type; /* as in perf_event_open(2) */
    uint64_t config;
    uint64_t config1, config2; /* for breakpoints: address and length */
    uint32_t breakpoint_type;
    uint64_t default_interval;
    const char *unit;    /* "ns" or "events" */
    bool is_clock;       /* the interval is in nanoseconds of CPU time */
    char name[64];       /* as requested, truncated */
    char probe[128];     /* function of a kprobe or uprobe, to which config1 must point */
    char probe_path[64]; /* library of a uprobe */
};

/*
 * Software and hardware events by name, "rNNN" raw, "trace:ID" and "category:name" tracepoints, "pmu/event/",
 * "mem:ADDRESS[:rwx]" and "mem:symbol", "kprobe:function", and the bare name of a function of this process.
 */
bool perf_choice_make(struct perf_choice *choice, const char *event, struct error *error) MUST_CHECK;
/* Appends the names of all named events. */
void perf_choice_list(struct text_builder *text);

#endif
