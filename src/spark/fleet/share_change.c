#include "spark/fleet/share_change.h"

#include <math.h>

#define MIN_Z 3.5
#define FEW_Z 15
#define MIN_ERROR 0.02

static double share_of(const struct share_sums *sums)
{
    return sums->y > 0 ? sums->x / sums->y : 0;
}

/* Of the share of a ratio of sums: by how much applications are off x = share * y, and at least by chance. */
static double variance_of(const struct share_sums *sums)
{
    long double share = share_of(sums), n = (long double)sums->applications;
    if (sums->y <= 0 || sums->applications < 2)
        return INFINITY;
    long double squares = sums->xx - 2 * share * sums->xy + share * share * sums->yy;
    long double between = squares <= 0 ? 0 : n / (n - 1) * squares / ((long double)sums->y * sums->y);
    long double least = MIN_ERROR * share * MIN_ERROR * share;
    /* One sample might have been there. */
    long double counted =
        sums->samples > 0 ? fmaxl(share * (1 - share), 1 / (long double)sums->samples) / sums->samples : 1;
    return (double)fmaxl(between, fmaxl(least, counted));
}

bool share_change_is_possible(const struct share_sums *before, const struct share_sums *now)
{
    return before->applications >= SHARE_MIN_APPLICATIONS && now->applications >= SHARE_MIN_APPLICATIONS &&
           before->y > 0 && now->y > 0;
}

struct share_change share_change_judge(const struct share_sums *before, const struct share_sums *now)
{
    struct share_change change = {.before = share_of(before), .now = share_of(now)};
    if (!share_change_is_possible(before, now))
        return change;
    uint64_t fewer = before->applications < now->applications ? before->applications : now->applications;
    double z = (change.now - change.before) / sqrt(variance_of(before) + variance_of(now));
    change.z = fmin(fmax(z, -SHARE_MAX_Z), SHARE_MAX_Z);
    change.is_more = z > MIN_Z + FEW_Z / (double)fewer &&
                     change.now > (1 + SHARE_MIN_GROWTH) * change.before &&
                     change.now - change.before > SHARE_MIN_POINTS;
    return change;
}
