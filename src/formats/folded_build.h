/*
 * folded_build.h - adds the stacks of a folded_table to a profile: frames, tree and samples.
 */
#ifndef FORMATS_FOLDED_BUILD_H
#define FORMATS_FOLDED_BUILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "formats/folded_table.h"
#include "model/profile.h"

struct folded_build_options {
    const uint32_t *events; /* counts[i] of each stack becomes a sample of events[i]; zeros are left out */
    size_t event_count;
    size_t most_frames; /* deeper stacks are cut */
    bool needs_lines;
};

/* Sorts the table. *cut counts the stacks that were cut. False: out of memory. */
bool folded_build(struct profile *profile, struct folded_table *table,
                  const struct folded_build_options *options, uint64_t *cut) MUST_CHECK;

#endif
