/*
 * host_comparison.h - how similar the hosts of a profile are, and which of them differ from the others: over all
 * samples, and over those of each stage of Spark, where samples have that label.
 *
 * Owns: its matrices, until host_comparison_release(); the profile and the names stay the caller's.
 */
#ifndef COMMANDS_HOST_COMPARISON_H
#define COMMANDS_HOST_COMPARISON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "model/profile.h"

#define HOST_STAGE_LIMIT 8
#define HOST_DIFFERENCE_LIMIT 10
#define HOST_MATRIX_LIMIT 100

/* A function whose share of a host's time is not that of the other hosts. */
struct host_difference {
    size_t host;    /* SIZE_MAX: with so few hosts or samples none is named */
    uint32_t frame; /* for the name */
    bool is_self;   /* without its callees */
    double share;   /* of the host; without name the largest of all hosts */
    double others;  /* median of the others; without name the smallest of all hosts */
};

struct host_part {
    uint32_t application, stage; /* strings of the profile; a stage of 0: all samples */
    size_t present, sampled;     /* hosts with samples, with enough of them to be compared */
    bool names_hosts;            /* there are enough hosts: what differs is significant */
    bool has_more;
    size_t difference_count;
    struct host_difference differences[HOST_DIFFERENCE_LIMIT]; /* the largest first */
    double *similarity; /* of the first HOST_MATRIX_LIMIT hosts with each other; -1: one has no samples */
};

struct host_comparison {
    const struct profile *profile;
    const char *const *names;
    size_t host_count, part_count;
    struct host_part parts[1 + HOST_STAGE_LIMIT]; /* all samples, then the heaviest stages */
};

/* Of the event that pictures show. Samples have the label "host" and times. */
bool host_comparison_make(struct host_comparison *comparison, const struct profile *profile,
                          const char *const *names, size_t count, struct error *error) MUST_CHECK;
void host_comparison_release(struct host_comparison *comparison);

#endif
