/*
 * share_change.h - whether the share that a method has of a group's CPU time grew by more than the group's
 * applications differ among each other.
 *
 * A share is that of the whole group: what all its applications spent on the method, of what they spent. Its error is
 * that of a ratio of sums over applications that were drawn by chance, at least 2 % of the share, and at least that of
 * counting the samples. Two shares differ by chance if they are not more than 3.5 + 15 / n errors of their difference
 * apart, where n is the number of applications on the side that has fewer (measure_change.h has the same rule for one
 * run against several).
 *
 * Owns: nothing.
 */
#ifndef SPARK_SHARE_CHANGE_H
#define SPARK_SHARE_CHANGE_H

#include <stdbool.h>
#include <stdint.h>

#define SHARE_MIN_APPLICATIONS 3 /* on either side */
#define SHARE_MIN_GROWTH 0.1     /* of the share before */
#define SHARE_MIN_POINTS 0.005   /* of the group's CPU time */
#define SHARE_MAX_Z 999.0

/* Of one side: sums over applications of what a method took (x) and of what all took (y). */
struct share_sums {
    double x, y;
    long double xx, xy, yy; /* of the products, in the same unit */
    double samples;         /* of all */
    uint64_t applications;
};

struct share_change {
    double before, now; /* shares, 0 to 1 */
    double z;           /* distance in errors; at most SHARE_MAX_Z either way */
    bool is_more;
};

struct share_change share_change_judge(const struct share_sums *before, const struct share_sums *now);
/* Either side has enough applications and a weight. */
bool share_change_is_possible(const struct share_sums *before, const struct share_sums *now);

#endif
