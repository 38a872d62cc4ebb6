/*
 * jfr_python.h - samples of Python threads, in the recording of the JVM that started them.
 *
 * Each sample stands for the same CPU time: the CPU time that a process used since its last sample decides whether a
 * look at its stack yields none, one or several samples. So waiting for a processor on a busy machine does not add
 * samples.
 *
 * A sample is an event of its own type with an ordinary stack: the class of a frame is its file, and the method's
 * modifiers mark it as Python. The task of a worker is recorded in the same events as that of a Java thread.
 *
 * Owns: functions, stacks and threads seen so far, until jfr_python_release().
 * Threads: one at a time.
 * Limit: limit_bytes; samples whose stacks do not fit are dropped and counted.
 */
#ifndef JVM_AGENT_JFR_PYTHON_H
#define JVM_AGENT_JFR_PYTHON_H

#include <stddef.h>
#include <stdint.h>

#include "base/id_map.h"
#include "jvm_agent/jfr/jfr_file.h"
#include "python_sampler/python_stack.h"

struct jfr_python_thread {
    uint32_t chunk;      /* last one that contains the thread's labels */
    int64_t task;        /* -1: none */
    uint64_t counted_ns; /* of a process, by its first thread: CPU time already covered by samples */
};

struct jfr_python {
    uint64_t interval_ns; /* per sample */
    size_t limit_bytes;
    uint32_t *function_chunks; /* by number: last chunk that contains it */
    size_t function_capacity;
    struct id_map traces; /* by hash of the frames */
    uint32_t *trace_chunks;
    size_t trace_count, trace_capacity;
    uint32_t trace_base, function_base; /* added to numbers in the recording */
    struct id_map threads;
    struct jfr_python_thread *thread_states;
    size_t thread_count, thread_capacity;
    uint64_t dropped;
};

void jfr_python_init(struct jfr_python *python, uint64_t interval_ns, size_t limit_bytes);
size_t jfr_python_bytes(const struct jfr_python *python);
/* Called at the start of a chunk: drops everything if half of the limit is used, or if `always`. */
void jfr_python_renew(struct jfr_python *python, bool always);
void jfr_python_release(struct jfr_python *python);
void jfr_python_add(struct jfr_python *python, struct jfr_file *file, const struct python_stack *stack);

#endif
