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

/* The current Spark task of a PySpark worker. */
struct python_task {
    bool known;
    int64_t stage;
    int64_t partition;
    int64_t attempt;
    int64_t task_id;  /* unique in the application */
    bool served_here; /* run by this thread; other threads of the process work for it */
};

struct python_stack {
    pid_t pid;
    pid_t thread_number;          /* the kernel's; 0: unknown */
    uint64_t thread_id;           /* as returned by threading.get_ident() */
    struct text_view thread_name; /* the name in Python, else in the kernel */
    int64_t time_ns;              /* CLOCK_REALTIME */
    bool on_cpu;                  /* running or ready to run */
    bool idle_wanted;             /* waiting threads are delivered in this tick, too */
    bool has_gil;
    bool collecting; /* its interpreter is collecting garbage */
    struct python_task task;
    const struct python_functions *functions;
    const struct python_frame *frames; /* innermost first; valid during the call only */
    size_t frame_count;
    /* For the receiver: one word per frame, outermost first, that lasts as long as the frame. The words of the
     * outermost `unchanged` frames are those stored with this thread's previous stack. */
    uint32_t *marks;
    size_t unchanged;
    /* And one for the thread, initially UINT32_MAX. */
    uint32_t *mark;
    bool is_repeated; /* equal to this thread's previous stack, except for its time */
};

#endif
