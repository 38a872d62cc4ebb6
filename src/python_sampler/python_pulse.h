/*
 * python_pulse.h - the few words of a Python process that are read at each tick: the GIL's holder, garbage collection,
 * and whether the lists of threads and interpreters have changed.
 *
 * Frames of a thread change only while it has the GIL, and the GIL counts its switches to another thread. So the count
 * proves which threads could not run Python code: while a batch was read, or since their stack was read.
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
#include "python_sampler/python_process_state.h"

/* Determines what to read, after the lists were walked. */
bool python_pulse_build(struct python_process *process) MUST_CHECK;
/* Adds it at the start of a batch. */
bool python_pulse_plan(struct python_process *process, struct memory_batch *batch, int64_t now_ns,
                       size_t *at) MUST_CHECK;
/* Adds the GIL's state again at the end, if that may prove something. */
void python_pulse_plan_end(struct python_process *process, struct memory_batch *batch, bool is_worth_it);
/* Called after the batch was read. */
void python_pulse_take(struct python_process *process, const struct memory_batch *batch, size_t at);
/* True if the number of GIL switches is known. */
bool python_pulse_counts(const struct python_process *process, const struct python_interpreter *interpreter);
/* The GIL's state, to be stored with a stack that is read in the same batch or later. */
struct python_gil_note python_pulse_note(const struct python_interpreter *interpreter);
/* True if the thread has not run Python code between the note of its stack and the newest pulse. */
bool python_pulse_proves_still(const struct python_thread *thread,
                               const struct python_interpreter *interpreter);

#endif
