/*
 * python_metrics.h - resource use of each sampled Python process, once per second, as JFR events.
 *
 * Threads: one at a time.
 * Limit: PYTHON_METRICS_LIMIT processes at a time; further ones have no such events.
 */
#ifndef JVM_AGENT_PYTHON_METRICS_H
#define JVM_AGENT_PYTHON_METRICS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/text_builder.h"

#define PYTHON_METRICS_LIMIT 512

struct python_metrics {
    struct python_usage {
        pid_t pid;
        uint64_t cpu_ticks, taken_ns; /* at the last event; 0: none yet */
    } processes[PYTHON_METRICS_LIMIT];
    size_t count;
};

/* Adds the process, until it ends. */
void python_metrics_note(struct python_metrics *metrics, pid_t pid);
void python_metrics_write(struct python_metrics *metrics, struct text_builder *bytes, uint64_t now_ns);

#endif
