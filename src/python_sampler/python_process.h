/*
 * python_process.h - a process that runs CPython: its interpreters, threads and code, sampled once on request.
 *
 * Owns: all it knows of the process, until python_process_free().
 * Threads: one at a time.
 */
#ifndef PYTHON_SAMPLER_PYTHON_PROCESS_H
#define PYTHON_SAMPLER_PYTHON_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/attributes.h"
#include "base/error.h"
#include "python_sampler/native_stack.h"
#include "python_sampler/python_code_cache.h"
#include "python_sampler/python_context.h"
#include "python_sampler/python_runtime.h"
#include "python_sampler/python_stack.h"
#include "python_sampler/python_stack_reader.h"
#include "python_sampler/python_thread.h"

#define PYTHON_MOST_INTERPRETERS 64
#define PYTHON_MOST_THREADS 4096

/* What became of the samples; all are counted. */
struct python_counts {
    uint64_t stacks; /* delivered */
    uint64_t idle;   /* threads passed over since they waited, or have no Python frames */
    uint64_t without_gil;
    uint64_t restless; /* given up: no two copies agreed */
    uint64_t too_deep;
    uint64_t broken;   /* given up: the memory made no sense */
    uint64_t unpaused; /* read while they ran, since they could not be stopped */
};

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

/* What samples need and processes share. */
struct python_sampling {
    struct python_stack_buffer buffer;
    struct memory_batch batch; /* what one process is asked for in one tick */
    struct memory_batch rest;  /* and what turned out to be needed besides */
    struct python_functions functions;
    struct python_frame *frames;
    struct merged_python *merging; /* only with native frames */
    struct native_copy native;
    struct python_counts counts;
    bool want_idle;
    bool only_gil;
    bool pauses; /* threads that run are stopped while they are read */
    bool wants_native;
    bool asks_kernel; /* this tick: what threads do, also where that is only told */
    int64_t time_ns;  /* CLOCK_REALTIME, of the tick */
    void (*deliver)(void *context, const struct python_stack *stack);
    void *context;
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
};

enum python_process_result {
    PROCESS_OK,
    PROCESS_CHANGED, /* what was known of it holds no longer: another program, or its Python ended */
    PROCESS_GONE,
    PROCESS_DENIED,
};

bool python_sampling_init(struct python_sampling *sampling) MUST_CHECK;
/* Native frames are wanted, too. */
bool python_sampling_add_native(struct python_sampling *sampling) MUST_CHECK;
void python_sampling_release(struct python_sampling *sampling);

/* Finds the Python in the process. NULL with an error when there is none; *result says which of the reasons it is. */
struct python_process *python_process_new(pid_t pid, enum python_find_result *result, struct error *error);
/* For a child that was forked and has not become another program: what is known of the parent holds for it. NULL when
 * that is not so (yet). */
struct python_process *python_process_new_fork(const struct python_process *parent, pid_t pid);
void python_process_free(struct python_process *process);
/* Delivers a stack of each thread that is wanted. */
enum python_process_result python_process_sample(struct python_process *process,
                                                 struct python_sampling *sampling, int64_t now_ns) MUST_CHECK;

#endif
