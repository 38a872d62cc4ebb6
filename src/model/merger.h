/*
 * merger.h - sums up profiles so that the result does not depend on their order, nor on which of them were joined
 * first.
 *
 * Weights are added as fixed-point numbers of 64 bits before and 32 after the point, which is exact where a sum of
 * doubles is not; the largest is kept where 64 bits are not enough. Times are rounded down to a resolution and samples
 * that then differ in nothing are summed up, so memory follows the number of distinct stacks, label sets and steps of
 * time. Times that count from the start of a recording mean nothing in another one and are dropped.
 *
 * Owns: everything, until merger_release().
 * Threads: one at a time; several fill a merger each, and merger_join() joins them.
 * Limit: 2^32 - 2 different samples, EVENT_LIMIT events, LABEL_KEY_LIMIT keys of labels.
 */
#ifndef MODEL_MERGER_H
#define MODEL_MERGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/hash_index.h"
#include "model/fixed_point.h"
#include "model/profile.h"
#include "model/translation.h"

struct merger_options {
    bool keep_times;
    bool keep_labels;
    int64_t resolution_ns;      /* of the times; 0: as they are */
    struct label_choice labels; /* which are kept; all if not set */
};

struct merged_sample {
    int64_t time_ns;
    int64_t value, count;
    uint32_t value_fraction, count_fraction;
    uint32_t stack, context, event;
};

struct merger {
    struct merger_options options;
    struct profile tables; /* what the samples refer to; without samples */
    struct merged_sample *samples;
    size_t size, capacity;
    struct hash_index index;
};

bool merger_init(struct merger *merger, const struct merger_options *options, struct error *error) MUST_CHECK;
void merger_release(struct merger *merger);
/* Adds all samples of a profile whose stacks are in its tree. After a failure the merger can only be released. */
bool merger_add(struct merger *merger, const struct profile *part, struct error *error) MUST_CHECK;
/* The same for all of another merger with the same options. */
bool merger_join(struct merger *merger, const struct merger *other, struct error *error) MUST_CHECK;
/* Makes the sum, numbered by content (canonical.h), and releases the merger, also on failure. */
bool merger_finish(struct merger *merger, struct profile *sum, struct error *error) MUST_CHECK;

#endif
