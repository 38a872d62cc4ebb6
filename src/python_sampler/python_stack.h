/*
 * python_stack.h - one sample of one Python thread, as the sampler delivers it.
 */
#ifndef PYTHON_SAMPLER_PYTHON_STACK_H
#define PYTHON_SAMPLER_PYTHON_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/text_view.h"
#include "python_sampler/python_code_cache.h"
#include "python_sampler/python_functions.h"

/* The Spark task that a PySpark worker serves. */
struct python_task {
    bool known;
    int64_t stage;
    int64_t partition;
    int64_t attempt;
    int64_t task_id;  /* unique in the application */
    bool served_here; /* by this thread; others of the process work for it */
};

struct python_stack {
    pid_t pid;
    pid_t thread_number;          /* the kernel's; 0: unknown */
    uint64_t thread_id;           /* as threading.get_ident() says it */
    struct text_view thread_name; /* as Python calls it, else as the kernel does */
    int64_t time_ns;              /* CLOCK_REALTIME */
    bool on_cpu;                  /* running or ready to run */
    bool idle_wanted;             /* threads that wait are delivered this time, too */
    bool has_gil;
    bool collecting; /* its interpreter collects garbage */
    struct python_task task;
    const struct python_functions *functions;
    const struct python_frame *frames; /* innermost first; valid during the call only */
    size_t frame_count;
    /* For the receiver: one word for each frame, outermost first, that stays as long as the frame does. The words of
     * the outermost `unchanged` frames are those that were left there at this thread's stack before. */
    uint32_t *marks;
    size_t unchanged;
    /* And one for the thread, UINT32_MAX at first. */
    uint32_t *mark;
    bool is_repeated; /* all but its time is as in this thread's stack before */
};

#endif
