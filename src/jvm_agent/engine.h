/*
 * engine.h - what makes samples happen: one table line per engine (engine_table.def).
 *
 * Engines that work per thread are told of every thread, by the thread itself at its start and end, or by the scan of
 * /proc/self/task; the caller holds one lock around these calls.
 */
#ifndef JVM_AGENT_ENGINE_H
#define JVM_AGENT_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "jvm_agent/perf_choice.h"
#include "jvm_agent/thread_table.h"

struct engine_settings {
    uint64_t interval_ns; /* or events, for perf's counters */
    int signal_number;
    int target_cpu;     /* perf: only samples on this processor; -1: all */
    bool kernel_frames; /* perf: with the kernel's part of the stack */
    bool all_user;      /* perf: not while in the kernel */
    struct perf_choice perf;
    bool batch_idle; /* wall: do not wake sleeping threads again */
};

struct engine {
    const char *name;
    const char *summary;
    const char *unit;
    uint64_t default_interval_ns;
    bool (*start)(const struct engine_settings *settings, struct error *error) MUST_CHECK;
    void (*stop)(void);
    void (*flush)(void);                              /* hands over what it holds back; NULL: nothing */
    bool (*add_thread)(struct thread_record *record); /* NULL: does not work per thread */
    void (*remove_thread)(struct thread_record *record);
};

#define ENGINE(name) extern const struct engine engine_##name;
#include "jvm_agent/engine_table.def"
#undef ENGINE

/* A random part of an interval, for the first sample of a thread: those that begin together must not be sampled together,
   and short ones must have their chance. */
uint64_t engine_first_interval(uint64_t interval, int32_t tid);
/* NULL when there is no such engine. */
const struct engine *engine_find(const char *name);
const struct engine *engine_at(size_t index);

#endif
