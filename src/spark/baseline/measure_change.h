/*
 * measure_change.h - whether a number differs from those of earlier runs by more than they differ among each other.
 *
 * The middle is the median, the spread 1.4826 times the median distance from it (the standard deviation, if the
 * numbers are normal), and at least 2 % of the median (3 % of a single number). A number differs if it is more than
 * 3.5 + 15 / n spreads of n earlier numbers, the given share and the given amount away from the median, and beyond all
 * earlier ones but a tenth. Without the 15 / n, few numbers, which may lie together by chance, would make every tenth
 * one seem to differ. It is beyond 82 % for one number, 25 % for three, 19 % for five, 15 % for ten that hardly differ.
 *
 * Owns: nothing.
 */
#ifndef SPARK_MEASURE_CHANGE_H
#define SPARK_MEASURE_CHANGE_H

#include <stddef.h>

#define CHANGE_MAX_Z 999.0

enum change_verdict {
    CHANGE_NONE,
    CHANGE_MORE,
    CHANGE_LESS,
    CHANGE_UNKNOWN, /* there is nothing to compare with */
};

struct change_limits {
    double share;    /* 0.1: less than 10 % more or less is no change */
    double amount;   /* nor is less than this */
    double variance; /* of the numbers themselves, as of counted samples */
};

struct measure_change {
    double now;
    double median, spread; /* of the earlier ones */
    double z;              /* the distance in spreads; at most CHANGE_MAX_Z either way */
    size_t runs;           /* how many earlier ones there are */
    enum change_verdict verdict;
};

/* Sorts `before`. */
struct measure_change measure_change_judge(double *before, size_t count, double now,
                                           const struct change_limits *limits);

#endif
