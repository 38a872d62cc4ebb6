#include "native_sampler/host_outliers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "unit_test.h"

#define HOSTS 10
#define BLOCKS 30
#define FEATURES 40
#define BURST 20

struct made_hosts {
    double weights[HOSTS][BLOCKS][FEATURES];
    double totals[HOSTS][BLOCKS];
    struct host_shares shares;
};

static uint64_t state = 88172645463325252;

/* Always the same numbers: xorshift. */
static double random_number(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (double)(state >> 11) / (double)(UINT64_C(1) << 53);
}

/* Features with Zipf's frequencies. */
static size_t random_feature(void)
{
    double sum = 0, part = 0;
    for (size_t i = 0; i < FEATURES; i++)
        sum += 1.0 / (double)(i + 1);
    double at = random_number() * sum;
    for (size_t i = 0; i < FEATURES; i++) {
        part += 1.0 / (double)(i + 1);
        if (part >= at)
            return i;
    }
    return FEATURES - 1;
}

/* Samples come in bursts. One host (HOSTS: none) spends a share of its time on feature 3. */
static void make(struct made_hosts *made, size_t slow, double share)
{
    memset(made, 0, sizeof(*made));
    for (size_t host = 0; host < HOSTS; host++)
        for (size_t block = 0; block < BLOCKS; block++)
            for (int burst = 0; burst < 8; burst++) {
                size_t feature = host == slow && random_number() < share ? 3 : random_feature();
                made->weights[host][block][feature] += BURST;
                made->totals[host][block] += BURST;
            }
    made->shares = (struct host_shares){.host_count = HOSTS,
                                        .block_count = BLOCKS,
                                        .feature_count = FEATURES,
                                        .weights = &made->weights[0][0][0],
                                        .totals = &made->totals[0][0]};
}

TEST(chances_of_student)
{
    CHECK(fabs(student_two_sided(2.306, 8) - 0.05) < 1e-4);
    CHECK(fabs(student_two_sided(12.706, 1) - 0.05) < 1e-4);
    CHECK(fabs(student_two_sided(0, 5) - 1) < 1e-12);
    CHECK(fabs(student_two_sided(-3.169, 10) - 0.01) < 1e-4);
}

TEST(even_hosts_raise_hardly_any_alarm)
{
    static struct made_hosts made;
    struct host_outlier outliers[8];
    int alarms = 0;
    for (int run = 0; run < 200; run++) {
        make(&made, HOSTS, 0);
        alarms += host_outliers_find(&made.shares, outliers, 8) > 0;
    }
    CHECK(alarms <= 10); /* 5 % */
}

TEST(a_slow_host_is_named_with_what_differs)
{
    static struct made_hosts made;
    struct host_outlier outliers[8];
    int right = 0;
    for (int run = 0; run < 50; run++) {
        make(&made, 7, 0.3);
        size_t found = host_outliers_find(&made.shares, outliers, 8);
        right += found > 0 && outliers[0].host == 7 && outliers[0].feature == 3 &&
                 outliers[0].share > outliers[0].median;
    }
    CHECK(right >= 48);
}

TEST(nobody_is_accused_among_five)
{
    static struct made_hosts made;
    struct host_outlier outliers[8];
    make(&made, 2, 0.9);
    made.shares.host_count = 5;
    CHECK_INT(host_outliers_find(&made.shares, outliers, 8), 0);
    made.shares.host_count = 6;
    CHECK(host_outliers_find(&made.shares, outliers, 8) > 0);
}

TEST(similarity)
{
    static struct made_hosts made;
    make(&made, 1, 1);
    CHECK(fabs(host_similarity(&made.shares, 3, 3) - 1) < 1e-12);
    CHECK(host_similarity(&made.shares, 3, 4) > 0.9);
    CHECK(host_similarity(&made.shares, 1, 4) < 0.6);
}

TEST(the_largest_differences_come_first)
{
    static struct made_hosts made;
    struct host_outlier one[1], all[64];
    make(&made, 7, 0.5);
    size_t found = host_outliers_find(&made.shares, all, 64);
    CHECK(found > 0 && found <= 64 && host_outliers_find(&made.shares, one, 1) == found);
    CHECK(one[0].host == all[0].host && one[0].feature == all[0].feature);
    for (size_t i = 1; i < found; i++)
        CHECK(fabs(all[i - 1].share - all[i - 1].median) >= fabs(all[i].share - all[i].median));
}

TEST(several_comparisons_share_the_chance)
{
    static struct made_hosts made;
    struct host_outlier one, same;
    make(&made, 7, 0.5);
    CHECK(host_outliers_find(&made.shares, &one, 1) > 0);
    made.shares.comparison_count = 9;
    CHECK(host_outliers_find(&made.shares, &same, 1) > 0);
    CHECK(fabs(same.chance / one.chance - 9) < 1e-9);
}
