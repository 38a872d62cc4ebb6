#include "spark/fleet/run_changes.h"

#include "failing_memory.h"
#include "folded_profile.h"
#include "unit_test.h"

static const struct fleet_options usual = {.interval_ns = {[FLEET_CPU] = 10000000, [FLEET_WALL] = 100000000},
                                           .since = FLEET_NO_DAY,
                                           .until = FLEET_NO_DAY};

static bool add_runs(struct fleet_sums *sums, const char *const *texts, size_t count, struct error *error)
{
    static const char *const names[] = {"0", "1", "2", "3", "4", "5", "6", "7"};
    bool good = true;
    for (size_t i = 0; good && i < count; i++) {
        struct profile profile;
        struct fleet_place place = {TEXT("etl"), text_of(names[i]), TEXT("1")};
        good = profile_init(&profile, false, error) &&
               (folded_profile_add(&profile, texts[i]) || error_set_memory(error)) &&
               fleet_sums_add(sums, &profile, &place, error);
        profile_release(&profile);
    }
    return good;
}

static void find(struct run_changes *changes, struct fleet_sums *sums, const char *const *texts, size_t count)
{
    struct error error = {0};
    CHECK_OK(error, fleet_sums_init(sums, &usual, &error));
    CHECK_OK(error, add_runs(sums, texts, count, &error));
    CHECK_OK(error, run_changes_find(changes, sums, count, &error));
}

static void release(struct run_changes *changes, struct fleet_sums *sums)
{
    run_changes_release(changes);
    fleet_sums_release(sums);
}

TEST(one_earlier_run_needs_a_large_change)
{
    struct fleet_sums sums;
    struct run_changes changes;
    static const char *const twice[] = {"main;parse 5000\nmain;join 1000\n",
                                        "main;parse 1000\nmain;join 1000\n"};
    find(&changes, &sums, twice, 2);
    CHECK_INT(changes.count, 2);
    CHECK(changes.items[0].method == NO_STRING && changes.items[0].event == FLEET_CPU);
    CHECK(changes.items[0].change.now == 60000 && changes.items[0].change.median == 20000);
    CHECK(changes.items[0].is_regression);
    CHECK(text_equal(fleet_text(&sums, changes.items[1].method), TEXT("parse")));
    CHECK(changes.items[1].change.now == 50000 && changes.items[1].change.median == 10000);
    CHECK(changes.items[1].is_regression && changes.totals[1].cpu_ms == 20000);
    release(&changes, &sums);
    static const char *const half_more[] = {"main;parse 3000\n", "main;parse 2000\n"};
    find(&changes, &sums, half_more, 2);
    CHECK_INT(changes.count, 1);
    CHECK(!changes.items[0].is_regression && changes.items[0].change.verdict == CHANGE_NONE);
    release(&changes, &sums);
}

TEST(more_runs_show_smaller_changes)
{
    struct fleet_sums sums;
    struct run_changes changes;
    static const char *const steady[] = {"main;a 2900\nmain;b 1000\n", "main;a 2000\nmain;b 1000\n",
                                         "main;a 2010\nmain;b 1000\n", "main;a 1990\nmain;b 990\n",
                                         "main;a 2005\nmain;b 1010\n", "main;a 1995\nmain;b 1000\n"};
    find(&changes, &sums, steady, 6);
    CHECK(changes.items[0].is_regression);
    CHECK_INT(changes.count, 2);
    release(&changes, &sums);
    /* Runs that differ that much among each other. */
    static const char *const noisy[] = {"main;a 2900\n", "main;a 2000\n", "main;a 3100\n",
                                        "main;a 1200\n", "main;a 2500\n", "main;a 1800\n"};
    find(&changes, &sums, noisy, 6);
    CHECK(!changes.items[0].is_regression);
    release(&changes, &sums);
}

TEST(what_costs_little_is_no_change)
{
    struct fleet_sums sums;
    struct run_changes changes;
    static const char *const little[] = {"main;a 90\n", "main;a 10\n"};
    find(&changes, &sums, little, 2);
    CHECK(changes.count == 1 && !changes.items[0].is_regression);
    release(&changes, &sums);
    static const char *const allocation[] = {"alloc:main;byte[] 300000000\n",
                                             "alloc:main;byte[] 100000000\n"};
    find(&changes, &sums, allocation, 2);
    CHECK_INT(changes.count, 2);
    CHECK(changes.items[0].event == FLEET_ALLOC && changes.items[0].is_regression);
    release(&changes, &sums);
    /* Without an earlier run nothing is known. */
    find(&changes, &sums, allocation, 1);
    CHECK(changes.count == 1 && changes.items[0].change.verdict == CHANGE_UNKNOWN);
    release(&changes, &sums);
}

TEST(memory_may_fail)
{
    static const char *const twice[] = {"main;parse 3000\n", "main;parse 1000\n"};
    FAIL_EACH_ALLOCATION
    {
        struct fleet_sums sums = {.options = NULL};
        struct run_changes changes = {.sums = NULL};
        struct error error = {0};
        bool good = fleet_sums_init(&sums, &usual, &error) && add_runs(&sums, twice, 2, &error) &&
                    run_changes_find(&changes, &sums, 2, &error);
        CHECK(good || failing_memory_failed());
        release(&changes, &sums);
    }
}
