/*
 * comparison.h - two profiles as one, with the events "before" and "after".
 */
#ifndef MODEL_COMPARISON_H
#define MODEL_COMPARISON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "model/profile.h"
#include "model/weight.h"

struct comparison_options {
    bool normalize;       /* scale "before" to the total of "after" */
    bool strip_addresses; /* "0x7f…" in names becomes "0x..." */
    enum weight weight;
};

/* Fills the uninitialised profile `both`; its values are the weights that the options ask for. */
bool comparison_make(const struct profile *before, uint32_t before_event, const struct profile *after,
                     uint32_t after_event, const struct comparison_options *options, struct profile *both,
                     struct error *error) MUST_CHECK;

#endif
