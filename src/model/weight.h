/*
 * weight.h - the weight of a sample: its count or its value.
 */
#ifndef MODEL_WEIGHT_H
#define MODEL_WEIGHT_H

#include "model/profile.h"

enum weight {
    WEIGHT_DEFAULT, /* as its event prefers */
    WEIGHT_COUNT,
    WEIGHT_VALUE,
};

static inline double weight_of(const struct profile *profile, const struct sample *sample, enum weight weight)
{
    bool by_value =
        weight == WEIGHT_VALUE || (weight == WEIGHT_DEFAULT && profile->events[sample->event].shows_value);
    return by_value ? sample->value : sample->count;
}

#endif
