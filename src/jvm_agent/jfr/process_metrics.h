/*
 * process_metrics.h - resource use of the process, once per second, as JFR events.
 *
 * Threads: one at a time.
 */
#ifndef JVM_AGENT_PROCESS_METRICS_H
#define JVM_AGENT_PROCESS_METRICS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/text_builder.h"

struct process_metrics {
    uint64_t user_ticks, system_ticks; /* of the process, at the last call */
    uint64_t machine_ticks, machine_idle_ticks;
    uint64_t taken_ns;
};

/* Of any process. */
struct process_usage {
    uint64_t user_ticks, system_ticks, threads; /* ticks of sysconf(_SC_CLK_TCK) */
    uint64_t resident_bytes;
};

/* False: the process has ended. */
bool process_usage_read(pid_t pid, struct process_usage *usage);

/* The load is measured since the last call, and missing in the first. */
void process_metrics_write(struct process_metrics *metrics, struct text_builder *bytes, uint64_t now_ns);

/* Updated by the JVM's garbage collection events. */
void process_metrics_gc(uint64_t duration_ns);

#endif
