/*
 * python_runtime.h - finds CPython in a process: the address of its state and its layout. Nothing is executed in the
 * target.
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
    uint32_t thread_number_offset; /* of the kernel's id in the thread's own block, up to 3.10; 0: unknown */
};

enum python_find_result {
    PYTHON_FOUND,
    PYTHON_NOT_READY, /* Python that is still starting */
    PYTHON_NONE,      /* not a Python process */
    PYTHON_FAILED,    /* unreadable, ended, or an unsupported version */
};

/* The error is set for all but PYTHON_FOUND. */
enum python_find_result python_runtime_find(struct python_runtime *runtime, struct process_memory *memory,
                                            struct error *error) MUST_CHECK;
/* The same for a known address of _PyRuntime. `version`: for one without debug offsets, 0: unknown. */
enum python_find_result python_runtime_find_at(struct python_runtime *runtime, struct process_memory *memory,
                                               uint64_t address, uint32_t version,
                                               struct error *error) MUST_CHECK;
/* Checks that the process (still, or as a forked child) has this runtime with an interpreter in it. */
enum python_find_result python_runtime_check(const struct python_runtime *runtime,
                                             struct process_memory *memory, struct error *error) MUST_CHECK;

#endif
