#include "spark/baseline/measure_change.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define NORMAL 1.4826 /* standard deviations in a median distance */
#define MIN_Z 3.5
#define MIN_SHARE 0.02
#define ONE_SHARE 0.03
#define FEW_Z 15
#define OUTLIERS 10 /* one in so many */

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double median_of(const double *sorted, size_t count)
{
    return count % 2 == 1 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
}

/* The median distance from the median: the sorted numbers are left and right of it, nearest first. */
static double median_distance(const double *sorted, size_t count, double median)
{
    size_t right = 0, wanted = count / 2;
    double last = 0, before = 0;
    while (right < count && sorted[right] < median)
        right++;
    size_t left = right;
    for (size_t taken = 0; taken <= wanted && (left > 0 || right < count); taken++) {
        double to_left = left > 0 ? median - sorted[left - 1] : INFINITY;
        double to_right = right < count ? sorted[right] - median : INFINITY;
        before = last;
        last = to_left < to_right ? to_left : to_right;
        left -= to_left < to_right;
        right += to_left >= to_right;
    }
    return count % 2 == 1 ? last : (before + last) / 2;
}

static double distance_in(double spread, double distance)
{
    double z = spread > 0 ? distance / spread : distance == 0 ? 0 : copysign(CHANGE_MAX_Z, distance);
    return z > CHANGE_MAX_Z ? CHANGE_MAX_Z : z < -CHANGE_MAX_Z ? -CHANGE_MAX_Z : z;
}

struct measure_change measure_change_judge(double *before, size_t count, double now,
                                           const struct change_limits *limits)
{
    struct measure_change change = {.now = now, .runs = count, .verdict = CHANGE_UNKNOWN};
    if (count == 0)
        return change;
    qsort(before, count, sizeof(*before), compare);
    change.median = median_of(before, count);
    double least = (count == 1 ? ONE_SHARE : MIN_SHARE) * fabs(change.median),
           distance = median_distance(before, count, change.median);
    change.spread = NORMAL * (distance > least ? distance : least);
    change.spread = sqrt(change.spread * change.spread + limits->variance);
    change.z = distance_in(change.spread, now - change.median);
    double highest = before[count - 1 - count / OUTLIERS], lowest = before[count / OUTLIERS];
    double min_z = MIN_Z + FEW_Z / (double)count;
    bool is_more = change.z > min_z && now > (1 + limits->share) * change.median && now > highest &&
                   now - change.median > limits->amount;
    bool is_less = change.z < -min_z && now * (1 + limits->share) < change.median && now < lowest &&
                   change.median - now > limits->amount;
    change.verdict = is_more ? CHANGE_MORE : is_less ? CHANGE_LESS : CHANGE_NONE;
    return change;
}
