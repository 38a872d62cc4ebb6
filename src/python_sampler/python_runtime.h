/*
 * python_runtime.h - finds the CPython in a process: where its state lies and how it is laid out. Nothing runs in
 * the target.
 */
#ifndef PYTHON_SAMPLER_PYTHON_RUNTIME_H
#define PYTHON_SAMPLER_PYTHON_RUNTIME_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/attributes.h"
#include "base/error.h"
#include "python_sampler/process_memory.h"
#include "python_sampler/python_layout.h"

struct python_runtime {
    uint64_t address; /* of _PyRuntime */
    struct python_layout layout;
    uint32_t
        thread_number_offset; /* of the kernel's thread number in the thread's own block, up to 3.10; 0: unknown */
};

enum python_find_result {
    PYTHON_FOUND,
    PYTHON_NOT_READY, /* a Python that has not started up yet */
    PYTHON_NONE,      /* not a Python process */
    PYTHON_FAILED,    /* unreadable, gone, or an unsupported version */
};

/* The error is set for all but PYTHON_FOUND. */
enum python_find_result python_runtime_find(struct python_runtime *runtime, struct process_memory *memory,
                                            struct error *error) MUST_CHECK;
/* Whether the process still, or also (a fork), has this runtime with an interpreter in it. */
enum python_find_result python_runtime_check(const struct python_runtime *runtime,
                                             struct process_memory *memory, struct error *error) MUST_CHECK;

#endif
