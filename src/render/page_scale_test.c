#include "render/page_scale.h"

#include <math.h>

#include "unit_test.h"

TEST(whole_numbers_share_their_largest_unit)
{
    struct page_scale scale = {0};
    page_scale_add(&scale, 30e6);
    page_scale_add(&scale, 0);
    page_scale_add(&scale, 20e6);
    CHECK(page_scale_unit(&scale) == 10e6);
    CHECK_INT(page_scale_stored(30e6, 10e6), 3);
}

TEST(nothing_is_stored_in_ones)
{
    struct page_scale scale = {0};
    CHECK(page_scale_unit(&scale) == 1);
    page_scale_add(&scale, -5);
    page_scale_add(&scale, NAN);
    page_scale_add(&scale, INFINITY);
    CHECK(page_scale_unit(&scale) == 1);
    CHECK_INT(page_scale_stored(-5, 1), 0);
    CHECK_INT(page_scale_stored(NAN, 1), 0);
}

TEST(fractions_keep_six_digits)
{
    struct page_scale scale = {0};
    page_scale_add(&scale, 0.25);
    page_scale_add(&scale, 1000);
    double unit = page_scale_unit(&scale);
    CHECK(fabs((double)page_scale_stored(0.25, unit) * unit - 0.25) < 1e-9);
}

TEST(huge_numbers_stay_exact_enough_and_below_the_limit)
{
    struct page_scale scale = {0};
    page_scale_add(&scale, 1e18);
    page_scale_add(&scale, 3);
    double unit = page_scale_unit(&scale);
    CHECK((double)page_scale_stored(1e18, unit) < PAGE_EXACT_LIMIT);
    CHECK(fabs((double)page_scale_stored(1e18, unit) * unit - 1e18) < 1e6);
    CHECK((double)page_scale_stored(1e300, unit) < PAGE_EXACT_LIMIT);
}
