#include "spark/fleet/share_change.h"

#include <math.h>

#include "base/attributes.h"
#include "unit_test.h"

#define MANY_SAMPLES 1e6

/* Applications of a size each that spend a share of it on the method. */
static struct share_sums sums_of(const double *shares, const double *sizes, size_t count, double samples)
{
    struct share_sums sums = {.samples = samples, .applications = count};
    for (size_t i = 0; i < count; i++) {
        double y = sizes == NULL ? 1000 : sizes[i], x = shares[i] * y;
        sums.x += x;
        sums.y += y;
        sums.xx += (long double)x * x;
        sums.xy += (long double)x * y;
        sums.yy += (long double)y * y;
    }
    return sums;
}

static bool is_more(const double *before, const double *now, size_t count)
{
    struct share_sums first = sums_of(before, NULL, count, MANY_SAMPLES),
                      second = sums_of(now, NULL, count, MANY_SAMPLES);
    return share_change_judge(&first, &second).is_more;
}

TEST(what_applications_agree_on_is_found)
{
    static const double before[] = {0.10, 0.11, 0.09, 0.10, 0.10, 0.11, 0.09};
    static const double now[] = {0.15, 0.16, 0.14, 0.15, 0.15, 0.14, 0.16};
    CHECK(is_more(before, now, 7));
    CHECK(!is_more(now, before, 7));
    CHECK(!is_more(before, before, 7));
}

TEST(one_application_that_went_wild_is_no_change_of_the_group)
{
    static const double before[] = {0.10, 0.11, 0.09, 0.10, 0.10, 0.11, 0.09};
    static const double now[] = {0.10, 0.11, 0.09, 0.90, 0.10, 0.11, 0.09};
    CHECK(!is_more(before, now, 7));
}

TEST(a_share_is_that_of_all_together)
{
    static const double shares[] = {0.5, 0.1, 0.1}, sizes[] = {100, 300, 600};
    struct share_sums sums = sums_of(shares, sizes, 3, MANY_SAMPLES);
    struct share_change change = share_change_judge(&sums, &sums);
    CHECK(fabs(change.now - 0.14) < 1e-12 && change.before == change.now && change.z == 0);
}

/* Computed by hand: x - 0.5 y is -1, 0, 1 of 30, thrice, and 0.02 of 0.2 on the other side. */
TEST(the_distance_is_in_errors_of_the_difference)
{
    static const double before[] = {0.2, 0.2, 0.2}, now[] = {0.4, 0.5, 0.6};
    static const double sizes[] = {10, 10, 10};
    struct share_sums first = sums_of(before, sizes, 3, 1e12), second = sums_of(now, sizes, 3, 1e12);
    double expected = 0.3 / sqrt(0.004 * 0.004 + 3.0 / 2 * 2 / 900);
    CHECK(fabs(share_change_judge(&first, &second).z - expected) < 1e-9);
}

TEST(few_applications_say_nothing)
{
    static const double before[] = {0.1, 0.1}, now[] = {0.9, 0.9};
    CHECK(!is_more(before, now, 2));
    struct share_sums none = {.applications = 0}, some = sums_of(now, NULL, 2, MANY_SAMPLES);
    CHECK(!share_change_is_possible(&none, &some) && share_change_judge(&none, &some).z == 0);
}

TEST(what_is_new_counts_from_half_a_percent_on)
{
    static const double none[] = {0, 0, 0, 0, 0}, little[] = {0.004, 0.004, 0.004, 0.004, 0.004},
                        some[] = {0.02, 0.02, 0.02, 0.02, 0.02};
    CHECK(is_more(none, some, 5));
    CHECK(!is_more(none, little, 5));
}

TEST(counted_samples_have_an_error_of_their_own)
{
    static const double before[] = {0.10, 0.10, 0.10, 0.10, 0.10}, now[] = {0.14, 0.14, 0.14, 0.14, 0.14};
    struct share_sums first = sums_of(before, NULL, 5, 200), second = sums_of(now, NULL, 5, 200);
    CHECK(!share_change_judge(&first, &second).is_more);
    first.samples = second.samples = MANY_SAMPLES;
    CHECK(share_change_judge(&first, &second).is_more);
}

/* The sum of 12 even numbers is nearly normal. */
static double normal_number(uint64_t *state)
{
    double sum = -6;
    for (size_t i = 0; i < 12; i++) {
        *state = *state * 6364136223846793005u + 1442695040888963407u;
        sum += (double)(*state >> 11) / 9007199254740992.0;
    }
    return sum;
}

/* Weeks without a change: how often a method seems to be slower, of 4000, when applications differ in size by a
 * factor, and in the method's share by a part of it. */
static int false_alarms(size_t count, double noise)
{
    uint64_t state = 42;
    int alarms = 0;
    for (int i = 0; i < 4000; i++) {
        struct share_sums sides[2];
        for (size_t side = 0; side < 2; side++) {
            double shares[64], sizes[64];
            for (size_t j = 0; j < count; j++) {
                shares[j] = fmin(fmax(0.2 * (1 + noise * normal_number(&state)), 0), 1);
                sizes[j] = 1000 * exp(normal_number(&state));
            }
            sides[side] = sums_of(shares, sizes, count, MANY_SAMPLES);
        }
        alarms += share_change_judge(&sides[0], &sides[1]).is_more;
    }
    return alarms;
}

TEST(noise_rarely_seems_to_be_a_change)
{
    static const size_t counts[] = {3, 5, 7, 20, 50};
    static const double noises[] = {0.05, 0.1, 0.3, 0.6};
    for (size_t i = 0; i < COUNT_OF(noises); i++)
        for (size_t j = 0; j < COUNT_OF(counts); j++)
            CHECK(false_alarms(counts[j], noises[i]) <= 20);
}
