/*
 * python_pulse.h - the few words of a Python process that are read at each tick: who has the GIL, who collects garbage,
 * whether the lists of threads and interpreters changed.
 *
 * Frames of a thread change only while it has the GIL, and the GIL counts how often it went to another thread. So the
 * count proves which threads could not run Python code: while a batch was read, or since their stack was read.
 *
 * Threads: one at a time.
 */
#ifndef PYTHON_SAMPLER_PYTHON_PULSE_H
#define PYTHON_SAMPLER_PYTHON_PULSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "python_sampler/memory_batch.h"
#include "python_sampler/python_process.h"

/* Finds out what to read, after the lists were walked. */
bool python_pulse_build(struct python_process *process) MUST_CHECK;
/* Puts it at the beginning of a batch. */
bool python_pulse_plan(struct python_process *process, struct memory_batch *batch, int64_t now_ns,
                       size_t *at) MUST_CHECK;
/* And the GIL's state once more at its end, where that may prove something. */
void python_pulse_plan_end(struct python_process *process, struct memory_batch *batch, bool is_worth_it);
/* After the batch was read. */
void python_pulse_take(struct python_process *process, const struct memory_batch *batch, size_t at);
/* Whether it is known how often the GIL went to another thread. */
bool python_pulse_counts(const struct python_process *process, const struct python_interpreter *interpreter);
/* The GIL's state, to be kept with a stack that is read in the same batch or later. */
struct python_gil_note python_pulse_note(const struct python_interpreter *interpreter);
/* Whether the thread has not run Python code from the note of its stack to the newest pulse. */
bool python_pulse_proves_still(const struct python_thread *thread,
                               const struct python_interpreter *interpreter);

#endif
