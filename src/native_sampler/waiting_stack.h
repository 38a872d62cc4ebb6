/*
 * waiting_stack.h - the stack of a thread of another process that waits in a system call, read from outside while it
 * goes on waiting: nobody is paused. Needs the right to trace the process.
 *
 * Owns: its buffer.
 * Threads: one at a time.
 */
#ifndef NATIVE_SAMPLER_WAITING_STACK_H
#define NATIVE_SAMPLER_WAITING_STACK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/attributes.h"
#include "base/text_view.h"
#include "native_sampler/perf_events.h"
#include "native_sampler/perf_record.h"

struct waiting_stack {
    struct perf_sample_stack stack; /* without the frame pointer, which the kernel does not show */
    unsigned char bytes[PERF_STACK_BYTES];
};

/* False: the thread runs, has ended, went on meanwhile, or may not be read. */
bool waiting_stack_read(struct waiting_stack *waiting, pid_t pid, pid_t tid) MUST_CHECK;
/* Of a line of /proc/PID/task/TID/syscall. False: the thread runs, or the line is of another form. */
bool waiting_stack_parse(struct text_view line, uint64_t *sp, uint64_t *pc) MUST_CHECK;

#endif
