/*
 * stitch.h - joins the Java stacks of a task with those of its Python worker.
 *
 * A task's thread waits for its worker below a frame of Spark's Python runners: the boundary. With wall clock
 * samples, those that wait there are replaced by the stacks of the task's worker, in their order, scaled to the
 * weight of the waits; the worker's samples are then removed, so that nothing is counted twice. With CPU samples, the
 * worker's are moved below the boundary at which the task waits, with their weight, since Java uses no CPU there.
 *
 * Samples are joined by the labels "application" and "task". Samples without a counterpart are unchanged.
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
