/*
 * host_outliers.h - which of several hosts does not do what the others do, by a test that controls false alarms.
 *
 * A feature is a share of a host's time, such as that of a function. It is compared with the median of the other hosts,
 * as arc sine of the root. The variance is that within the host, from blocks of time (delete-a-block jackknife, since
 * samples come in bursts), that between hosts (median absolute deviation), and that of the median. An outlier has to be
 * significant at 5 % over all hosts, features and comparisons (Student, Bonferroni), and 5 points away.
 *
 * Threads: any.
 */
#ifndef NATIVE_SAMPLER_HOST_OUTLIERS_H
#define NATIVE_SAMPLER_HOST_OUTLIERS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/attributes.h"

/* With fewer, differences are no evidence. */
#define OUTLIER_LEAST_HOSTS 6
#define OUTLIER_LEAST_SAMPLES 1000
#define OUTLIER_LEAST_BLOCKS 20
#define OUTLIER_LEAST_DIFFERENCE 0.05

struct host_shares {
    size_t host_count, block_count, feature_count;
    const double *weights; /* [host][block][feature] */
    const double *totals;  /* [host][block] */
    size_t
        comparison_count; /* how many such tests are made, all of which together may raise a false alarm; 0: 1 */
};

struct host_outlier {
    size_t host, feature;
    double share;  /* of the host's time */
    double median; /* of the other hosts' shares */
    double chance; /* to see such a difference, times hosts and features */
};

/* The share of a host's time that a feature has. */
double host_shares_of(const struct host_shares *shares, size_t host, size_t feature);
/* Fills at most `limit` outliers, the largest difference first; returns how many there are. 0 below OUTLIER_LEAST_HOSTS
 * or OUTLIER_LEAST_BLOCKS. */
size_t host_outliers_find(const struct host_shares *shares, struct host_outlier *outliers, size_t limit);
/* The cosine of two hosts' shares: 1 if they do the same. */
double host_similarity(const struct host_shares *shares, size_t left, size_t right);
/* The chance that Student's t of these degrees of freedom is further from 0. */
double student_two_sided(double t, double degrees);

#endif
