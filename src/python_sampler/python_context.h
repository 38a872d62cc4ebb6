/*
 * python_context.h - names of Python threads, and the task of a PySpark worker.
 *
 * Names come from threading._active. The task is the object in pyspark.taskcontext.TaskContext._taskContext while
 * worker.py runs it; its fields were sent by the executor at the start of the task.
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

/* Copies the name of the thread; false if Python has none for it. */
bool python_context_thread_name(struct python_context *context, const struct python_reader *reader,
                                uint64_t interpreter, uint64_t thread_id, int64_t now_ns, char *name,
                                size_t name_bytes) MUST_CHECK;
/* The worker's current task; only for processes that run pyspark's worker. */
const struct python_task *python_context_task(struct python_context *context,
                                              const struct python_reader *reader, uint64_t interpreter,
                                              int64_t now_ns);

#endif
