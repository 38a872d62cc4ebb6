/*
 * store_series.h - how much of an event the recordings of a store have over time, by labels: what curves are made of.
 */
#ifndef COMMANDS_STORE_SERIES_H
#define COMMANDS_STORE_SERIES_H

#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/output.h"
#include "collector/store/recording_index.h"
#include "commands/picture/profile_input.h"

struct series_options {
    uint64_t step_ms;     /* above 0 */
    const char *split_by; /* names of labels with commas between them; NULL: none */
};

/* Writes one line for each step that has something, and each combination of values, sorted by the values: the start of
 * the step in ms since 1970, the sum, and the values, with tabs between them. Steps are by the time of receipt. Only
 * event, weight and what the store knows of recordings select; a recording that cannot be read is left out. */
bool store_series_write(const char *store, const struct recording_query *query,
                        const struct profile_input_options *input, const struct series_options *options,
                        struct output *output, struct error *error) MUST_CHECK;

#endif
