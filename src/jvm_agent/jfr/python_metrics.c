#include "jvm_agent/jfr/python_metrics.h"

#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "jvm_agent/jfr/jfr_shape.h"
#include "jvm_agent/jfr/jfr_types.h"
#include "jvm_agent/jfr/process_metrics.h"

#define SECOND_NS UINT64_C(1000000000)

void python_metrics_note(struct python_metrics *metrics, pid_t pid)
{
    for (size_t i = 0; i < metrics->count; i++)
        if (metrics->processes[i].pid == pid)
            return;
    if (metrics->count < PYTHON_METRICS_LIMIT)
        metrics->processes[metrics->count++] = (struct python_usage){.pid = pid};
}

/* The load is that of one processor since the last event. */
static void put(struct python_usage *before, const struct process_usage *now, struct text_builder *bytes,
                uint64_t now_ns)
{
    uint64_t tick_ns = SECOND_NS / (uint64_t)sysconf(_SC_CLK_TCK),
             ticks = now->user_ticks + now->system_ticks;
    bool is_first = before->taken_ns == 0 || ticks < before->cpu_ticks || now_ns <= before->taken_ns;
    uint64_t used_ns = is_first ? 0 : (ticks - before->cpu_ticks) * tick_ns;
    uint64_t since_ns = is_first ? 1 : now_ns - before->taken_ns;
    size_t begin = jfr_event_begin(bytes, JFR_PYTHON_METRICS);
    jfr_put_time(bytes, now_ns);
    jfr_put_number(bytes, (uint64_t)before->pid);
    jfr_put_float(bytes, (float)((double)used_ns / (double)since_ns));
    jfr_put_number(bytes, now->user_ticks * tick_ns);
    jfr_put_number(bytes, now->system_ticks * tick_ns);
    jfr_put_number(bytes, now->resident_bytes);
    jfr_event_end(bytes, begin);
    *before = (struct python_usage){before->pid, ticks, now_ns};
}

void python_metrics_write(struct python_metrics *metrics, struct text_builder *bytes, uint64_t now_ns)
{
    size_t kept = 0;
    for (size_t i = 0; i < metrics->count; i++) {
        struct python_usage *process = &metrics->processes[i];
        struct process_usage now;
        if (!process_usage_read(process->pid, &now))
            continue; /* the process has ended */
        put(process, &now, bytes, now_ns);
        metrics->processes[kept++] = *process;
    }
    metrics->count = kept;
}
