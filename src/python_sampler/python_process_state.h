/*
 * python_process_state.h - what is known of a process that runs CPython, for those that sample it (python_process.h).
 */
#ifndef PYTHON_SAMPLER_PYTHON_PROCESS_STATE_H
#define PYTHON_SAMPLER_PYTHON_PROCESS_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "python_sampler/memory_batch.h"
#include "python_sampler/native_stack.h"
#include "python_sampler/python_code_cache.h"
#include "python_sampler/python_context.h"
#include "python_sampler/python_runtime.h"
#include "python_sampler/python_thread.h"

#define PYTHON_MOST_INTERPRETERS 64

struct python_interpreter {
    uint64_t address;
    uint64_t gil; /* address of its state; 0: none known */
    uint64_t threads_head;
    uint64_t gil_holder;  /* 0: nobody */
    uint64_t last_holder; /* who had the GIL last, or has it; 0: not known */
    uint64_t switches;    /* of the GIL to another thread so far */
    size_t again_at;      /* where the tick's batch has the GIL's state once more, at its end; 0: nowhere */
    bool shares_gil;      /* with another interpreter */
    bool is_steady;       /* nobody but last_holder had the GIL while the tick's batch was read */
    uint64_t code_generation;
    bool collecting;
};

struct python_process {
    struct process_memory memory;
    struct python_runtime runtime;
    struct python_code_cache codes;
    struct python_context context;
    enum python_worker_state worker_state; /* as its main thread was seen last */
    struct native_modules native;
    struct python_interpreter interpreters[PYTHON_MOST_INTERPRETERS];
    size_t interpreter_count;
    uint64_t interpreters_head;
    struct python_thread *threads;
    size_t thread_count;
    size_t thread_capacity;
    bool list_is_stale;
    struct span_set
        pulse; /* the few words that tell who has the GIL, who collects, whether the lists changed */
    const unsigned char *pulse_bytes; /* in the tick's batch */
    bool has_head;                    /* the batch has the head of the list of interpreters, too */
    size_t head_at;
    int64_t next_head_ns;
    bool has_generation; /* and the count of code objects */
    size_t generation_at;
    int64_t next_generation_ns;
    uint8_t counter_tries; /* to find the count of code objects */
    int64_t tick_effort;
    int64_t rest_until_ns; /* it made too much work */
};

#endif
