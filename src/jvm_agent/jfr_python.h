/*
 * jfr_python.h - samples of Python threads, in the recording of the JVM that started them.
 *
 * Each stands for the same CPU time: what a process used since its last sample decides whether a look at it becomes none,
 * one or several of them, so that a busy machine, where threads wait for a processor, changes nothing.
 *
 * A sample is an event of its own type with a stack like any other: the class of a frame is its file, and the method's
 * modifiers say that it is Python. A worker's task stands in the same events as that of a Java thread.
 *
 * Owns: what it remembers of functions, stacks and threads, until jfr_python_release().
 * Threads: one at a time.
 * Limit: as many stacks and functions as jfr_python.c says; further samples are dropped and counted.
 */
#ifndef JVM_AGENT_JFR_PYTHON_H
#define JVM_AGENT_JFR_PYTHON_H

#include <stddef.h>
#include <stdint.h>

#include "base/id_map.h"
#include "jvm_agent/jfr_file.h"
#include "python_sampler/python_stack.h"

struct jfr_python_thread {
    uint32_t chunk;      /* the last that says what the thread works on */
    int64_t task;        /* -1: none */
    uint64_t counted_ns; /* of a process, by its first thread: CPU time that has samples already */
};

struct jfr_python {
    uint64_t interval_ns;      /* that a sample stands for */
    uint32_t *function_chunks; /* by number: the last chunk that has it */
    size_t function_capacity;
    struct id_map traces; /* by hash of the frames */
    uint32_t *trace_chunks;
    size_t trace_count, trace_capacity;
    struct id_map threads;
    struct jfr_python_thread *thread_states;
    size_t thread_count, thread_capacity;
    uint64_t dropped;
};

/* Of methods: what readers of ours know Python by. */
extern const uint32_t jfr_python_modifiers;

void jfr_python_init(struct jfr_python *python, uint64_t interval_ns);
void jfr_python_release(struct jfr_python *python);
void jfr_python_add(struct jfr_python *python, struct jfr_file *file, const struct python_stack *stack);

#endif
