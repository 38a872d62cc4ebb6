#include "spark/baseline/measure_change.h"

#include <stdint.h>

#include "base/attributes.h"
#include "unit_test.h"

static const struct change_limits usual = {.share = 0.1, .amount = 1000};

static enum change_verdict verdict_of(const double *before, size_t count, double now)
{
    double copy[64];
    for (size_t i = 0; i < count; i++)
        copy[i] = before[i];
    return measure_change_judge(copy, count, now, &usual).verdict;
}

TEST(a_number_far_from_steady_ones_changed)
{
    static const double steady[] = {20000, 20100, 19900, 20050, 19950};
    CHECK_INT(verdict_of(steady, 5, 30000), CHANGE_MORE);
    CHECK_INT(verdict_of(steady, 5, 10000), CHANGE_LESS);
    CHECK_INT(verdict_of(steady, 5, 20500), CHANGE_NONE);
    CHECK_INT(verdict_of(steady, 5, 21900), CHANGE_NONE);
    CHECK_INT(verdict_of(steady, 5, 23500), CHANGE_NONE);
    CHECK_INT(verdict_of(steady, 5, 24000), CHANGE_MORE);
}

TEST(what_the_spread_explains_is_no_change)
{
    static const double noisy[] = {20000, 31000, 24000, 15000, 27000};
    CHECK_INT(verdict_of(noisy, 5, 33000), CHANGE_NONE);
    CHECK_INT(verdict_of(noisy, 5, 90000), CHANGE_MORE);
    /* One of three was as slow, though the two others agree. */
    static const double outlier[] = {10000, 10000, 20000};
    CHECK_INT(verdict_of(outlier, 3, 18000), CHANGE_NONE);
}

TEST(one_outlier_among_many_hides_nothing)
{
    static const double many[] = {20000, 20100, 19900, 20050, 19950, 20020, 19980, 20010, 19990, 90000};
    CHECK_INT(verdict_of(many, 10, 40000), CHANGE_MORE);
}

TEST(few_runs_say_little)
{
    static const double one[] = {20000}, two[] = {20000, 20000};
    CHECK_INT(verdict_of(one, 1, 36000), CHANGE_NONE);
    CHECK_INT(verdict_of(one, 1, 37000), CHANGE_MORE);
    CHECK_INT(verdict_of(two, 2, 26000), CHANGE_NONE);
    CHECK_INT(verdict_of(two, 2, 27000), CHANGE_MORE);
    CHECK_INT(verdict_of(one, 0, 30000), CHANGE_UNKNOWN);
}

TEST(small_amounts_are_no_change)
{
    static const double small[] = {100, 101, 99, 100, 100}, none[] = {0, 0, 0};
    CHECK_INT(verdict_of(small, 5, 1000), CHANGE_NONE);
    CHECK_INT(verdict_of(small, 5, 1200), CHANGE_MORE);
    CHECK_INT(verdict_of(none, 3, 0), CHANGE_NONE);
    CHECK_INT(verdict_of(none, 3, 2000), CHANGE_MORE);
}

TEST(the_median_and_the_spread)
{
    double odd[] = {5, 1, 3, 100, 4}, even[] = {1, 2, 30, 40};
    struct measure_change change = measure_change_judge(odd, 5, 4, &usual);
    CHECK(change.median == 4 && change.spread > 1.48 && change.spread < 1.49 && change.z == 0);
    change = measure_change_judge(even, 4, 16, &usual);
    CHECK(change.median == 16 && change.spread > 1.4826 * 14.4 && change.spread < 1.4826 * 14.6);
}

TEST(counted_numbers_have_a_spread_of_their_own)
{
    double before[] = {20000, 20100, 19900, 20050, 19950};
    struct change_limits counted = {.share = 0.1, .amount = 1000, .variance = 3000.0 * 3000.0};
    CHECK_INT(measure_change_judge(before, 5, 25000, &counted).verdict, CHANGE_NONE);
    CHECK_INT(measure_change_judge(before, 5, 42000, &counted).verdict, CHANGE_MORE);
}

/* The sum of 12 even numbers is nearly normal. */
static double normal(uint64_t *state)
{
    double sum = -6;
    for (size_t i = 0; i < 12; i++) {
        *state = *state * 6364136223846793005u + 1442695040888963407u;
        sum += (double)(*state >> 11) / 9007199254740992.0;
    }
    return sum;
}

/* Runs of one job on a machine with noise: how often the last one seems to be slower, of 2000. */
static int false_alarms(size_t count, double noise)
{
    uint64_t state = 42;
    int alarms = 0;
    for (int i = 0; i < 2000; i++) {
        double before[64];
        for (size_t j = 0; j < count; j++)
            before[j] = 100000 * (1 + noise * normal(&state));
        alarms +=
            measure_change_judge(before, count, 100000 * (1 + noise * normal(&state)), &usual).verdict ==
            CHANGE_MORE;
    }
    return alarms;
}

TEST(noise_rarely_seems_to_be_a_change)
{
    static const struct {
        double noise;
        int limit;
    } cases[] = {{0.01, 0}, {0.05, 10}, {0.1, 30}, {0.2, 100}};
    static const size_t counts[] = {1, 2, 3, 5, 10, 20};
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        for (size_t j = 0; j < COUNT_OF(counts); j++)
            CHECK(false_alarms(counts[j], cases[i].noise) <= cases[i].limit);
}
