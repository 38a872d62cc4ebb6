/*
 * chart.h - the profile of a flame chart: stacks in order of time, merged only with their direct neighbours.
 */
#ifndef MODEL_CHART_H
#define MODEL_CHART_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "model/profile.h"

/* The time in which a frame calls nothing lies between its callees: a frame of this name, which is not drawn. */
#define CHART_FILLER "\001"

/* Fills the uninitialised profile `chart` from the samples of one event, which must have kept their order or times.
 * Samples without times are assumed to be newest first, as in flamegraph.pl. */
bool chart_make(const struct profile *from, uint32_t event, struct profile *chart,
                struct error *error) MUST_CHECK;
/* When no sample has a time: gives each the sum of the counts before it, newest first as above, as its time, and the
 * profile their range. True if it did. */
bool chart_set_places(struct profile *profile);

#endif
