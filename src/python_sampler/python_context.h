/*
 * python_context.h - what a Python process says about its threads and its work: thread names, and in a PySpark worker
 * the task that it serves.
 *
 * Names are those of threading._active. The task is the object that pyspark.taskcontext.TaskContext._taskContext holds
 * while worker.py serves one; its fields came from the executor at the task's begin.
 */
#ifndef PYTHON_SAMPLER_PYTHON_CONTEXT_H
#define PYTHON_SAMPLER_PYTHON_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "python_sampler/python_dict.h"
#include "python_sampler/python_stack.h"

#define PYTHON_TASK_TRUST_NS INT64_C(4000000)

struct python_context {
    uint64_t active_threads; /* dict threading._active; 0: not found yet */
    int64_t next_search_ns;
    uint64_t task_class_dict; /* of pyspark's TaskContext; 0: not found yet */
    int64_t next_task_search_ns;
    int64_t next_task_ns;
    struct python_task task;
    struct python_task last_known;
};

/* Copies the name of the thread; false when Python has none for it. */
bool python_context_thread_name(struct python_context *context, const struct python_reader *reader,
                                uint64_t interpreter, uint64_t thread_id, int64_t now_ns, char *name,
                                size_t name_bytes) MUST_CHECK;
/* The task that a worker serves now; to be asked for processes that run pyspark's worker only. */
const struct python_task *python_context_task(struct python_context *context,
                                              const struct python_reader *reader, uint64_t interpreter,
                                              int64_t now_ns);

#endif
