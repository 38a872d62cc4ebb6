/*
 * engine.h - sources of samples, one table line each (engine_table.def).
 *
 * Per-thread engines are called for every thread: by the thread itself at its start and end, or by the scan of
 * /proc/self/task. The caller holds a lock.
 */
#ifndef JVM_AGENT_ENGINE_H
#define JVM_AGENT_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "jvm_agent/engines/perf_choice.h"
#include "jvm_agent/thread_table.h"

struct engine_settings {
    uint64_t interval_ns; /* or events, for perf counters */
    int signal_number;
    int target_cpu;     /* perf: sample on this processor only; -1: all */
    bool kernel_frames; /* perf: include kernel frames */
    bool all_user;      /* perf: exclude time in the kernel */
    struct perf_choice perf;
    bool batch_idle; /* wall: do not wake sleeping threads repeatedly */
};

struct engine {
    const char *name;
    const char *summary;
    const char *unit;
    uint64_t default_interval_ns;
    bool (*start)(const struct engine_settings *settings, struct error *error) MUST_CHECK;
    void (*stop)(void);
    void (*flush)(void);                              /* delivers delayed samples; NULL: none */
    bool (*add_thread)(struct thread_record *record); /* NULL: not a per-thread engine */
    void (*remove_thread)(struct thread_record *record);
};

#define ENGINE(name) extern const struct engine engine_##name;
#include "jvm_agent/engines/engine_table.def"
#undef ENGINE

/* A random part of an interval, for a thread's first sample: threads that start together are not sampled together,
 * and short-lived threads can be sampled. */
uint64_t engine_first_interval(uint64_t interval, int32_t tid);
/* NULL if there is no such engine. */
const struct engine *engine_find(const char *name);
const struct engine *engine_at(size_t index);

#endif
