/*
 * process_metrics.h - what the process uses, once a second, as JFR events.
 *
 * Threads: one at a time.
 */
#ifndef JVM_AGENT_PROCESS_METRICS_H
#define JVM_AGENT_PROCESS_METRICS_H

#include <stdint.h>

#include "base/text_builder.h"

struct process_metrics {
    uint64_t user_ticks, system_ticks; /* of the process, at the last call */
    uint64_t machine_ticks, machine_idle_ticks;
    uint64_t taken_ns;
};

/* The load is that since the last call, and missing at the first. */
void process_metrics_write(struct process_metrics *metrics, struct text_builder *bytes, uint64_t now_ns);

/* Kept by the JVM's garbage collection events. */
void process_metrics_gc(uint64_t duration_ns);

#endif
