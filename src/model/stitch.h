/*
 * stitch.h - one graph of a task's Java and of the Python worker that serves it.
 *
 * A task's thread waits for its worker below a frame of Spark's Python runners: the boundary. With wall clock samples,
 * those that wait there are replaced by the stacks of the task's worker, in their order, scaled so that they weigh what
 * the waits weighed; the worker's own samples then go, so that nothing is counted twice. With CPU samples, the worker's
 * are moved below the boundary at which the task waits, with the weight they have, since Java uses no processor there.
 *
 * Samples are joined by the labels "application" and "task". What has no counterpart stays as it was.
 */
#ifndef MODEL_STITCH_H
#define MODEL_STITCH_H

#include <stdbool.h>

#include "base/attributes.h"
#include "base/error.h"
#include "model/profile.h"

/* The profile must not be sealed; its events "cpu" and "wall" change. */
bool stitch_profile(struct profile *profile, struct error *error) MUST_CHECK;

#endif
