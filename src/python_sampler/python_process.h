/*
 * python_process.h - a process that runs CPython: its interpreters, threads and code, sampled once per call.
 *
 * Owns: all data about the process, until python_process_free().
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
#include "python_sampler/python_process_state.h"
#include "python_sampler/python_runtime.h"
#include "python_sampler/python_stack.h"
#include "python_sampler/python_stack_reader.h"
#include "python_sampler/python_thread.h"

#define PYTHON_MOST_THREADS 4096
/* Threads whose files in /proc stay open, two each. */
#define PYTHON_MOST_THREADS_WITH_FILES 256
/* Frames of the last stacks of all threads of a process, about 60 bytes each. */
#define PYTHON_MOST_KEPT_FRAMES ((size_t)1 << 20)
/* Maximum effort of a process per tick (process_memory_allow()): about a quarter of a second. A process that needs
 * more is not sampled for a while. */
#define PYTHON_TICK_EFFORT (INT64_C(1) << 30)
#define PYTHON_REST_NS INT64_C(1000000000)

/* Results of all sampling attempts. */
struct python_counts {
    uint64_t stacks; /* delivered */
    uint64_t idle;   /* threads skipped because they waited, or have no Python frames */
    uint64_t without_gil;
    uint64_t restless; /* skipped: no two copies agreed */
    uint64_t too_deep;
    uint64_t broken;   /* skipped: invalid memory */
    uint64_t unpaused; /* read while running, since they could not be paused */
};

/* What samples need and processes share. */
struct python_sampling {
    struct python_stack_buffer buffer;
    struct memory_batch batch; /* reads of one process in one tick */
    struct memory_batch rest;  /* further reads */
    struct python_functions functions;
    struct python_frame *frames;
    struct merged_python *merging; /* only with native frames */
    struct native_copy native;
    struct python_counts counts;
    bool want_idle;
    bool only_gil;
    bool pauses; /* pause running threads while they are read */
    bool wants_native;
    bool asks_kernel; /* this tick: ask the kernel for thread states, even if they are only reported */
    int64_t time_ns;  /* CLOCK_REALTIME, of the tick */
    void (*deliver)(void *context, const struct python_stack *stack);
    void *context;
};

enum python_process_result {
    PROCESS_OK,
    PROCESS_CHANGED, /* known data is invalid: another program, or Python has ended */
    PROCESS_GONE,
    PROCESS_DENIED,
};

bool python_sampling_init(struct python_sampling *sampling) MUST_CHECK;
/* Enables native frames. */
bool python_sampling_add_native(struct python_sampling *sampling) MUST_CHECK;
void python_sampling_release(struct python_sampling *sampling);

/* Finds the Python runtime in the process. NULL with an error if there is none; *result: the reason. */
struct python_process *python_process_new(pid_t pid, enum python_find_result *result, struct error *error);
/* With a known runtime. Takes ownership of the memory, unless it returns NULL. */
struct python_process *python_process_new_of(const struct python_runtime *runtime,
                                             const struct process_memory *memory);
/* For a forked child that runs the same program: copies what is known of the parent. NULL if that is not (yet) so. */
struct python_process *python_process_new_fork(const struct python_process *parent, pid_t pid);
void python_process_free(struct python_process *process);
/* Delivers a stack of each selected thread. */
enum python_process_result python_process_sample(struct python_process *process,
                                                 struct python_sampling *sampling, int64_t now_ns) MUST_CHECK;

#endif
