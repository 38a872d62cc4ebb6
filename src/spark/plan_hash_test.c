#include "spark/plan_hash.h"

#include "unit_test.h"

static bool are_equal(const char *left, const char *right, bool is_loose)
{
    return plan_hash_text(text_of(left), is_loose) == plan_hash_text(text_of(right), is_loose);
}

TEST(what_spark_counts_anew_is_left_out)
{
    CHECK(are_equal("HashAggregate(keys=[k#1L], functions=[count(1)])",
                    "HashAggregate(keys=[k#12345L], functions=[count(1)])", false));
    CHECK(are_equal("Exchange hashpartitioning(k#1, 200), ENSURE_REQUIREMENTS, [plan_id=12]",
                    "Exchange hashpartitioning(k#2, 200), ENSURE_REQUIREMENTS, [plan_id=9999]", false));
    CHECK(are_equal("Exchange SinglePartition, true, [id=#12]", "Exchange SinglePartition, true, [id=#7]",
                    false));
    CHECK(are_equal("MapElements app.Job$$$Lambda$1234/0x00000001008d4840@3b07d329, obj#1: int",
                    "MapElements app.Job$$$Lambda/0x00007f3c1c8d0000@5f2c, obj#22: int", false));
    CHECK(are_equal(
        "Scan parquet [a#1] Location: InMemoryFileIndex(1 paths)[file:/tmp/a/b], PushedFilters: []",
        "Scan parquet [a#9] Location: InMemoryFileIndex(1 paths)[file:/home/x..., PushedFilters: []", false));
    CHECK(are_equal("Execute x hdfs://nn:8020/day=2026-11-18, x", "Execute x hdfs://other/d, x", false));
}

TEST(what_the_user_wrote_counts)
{
    CHECK(!are_equal("Filter (k#1L > 5)", "Filter (k#1L > 6)", false));
    CHECK(!are_equal("Project [a#1]", "Project [b#1]", false));
    CHECK(!are_equal("SortMergeJoin [k#1], [k#2], Inner", "SortMergeJoin [k#1], [k#2], LeftOuter", false));
    CHECK(!are_equal("a # b", "a b", false));
    CHECK(!are_equal("me@at", "me@bt", false));
}

TEST(digits_do_not_count_in_a_loose_hash)
{
    CHECK(are_equal("Filter (day#1 = 2026-11-18)", "Filter (day#1 = 2026-11-19)", true));
    CHECK(are_equal("collect at job.py:9", "collect at job.py:123", true));
    CHECK(!are_equal("collect at job.py:9", "count at job.py:9", true));
}

TEST(texts_may_end_anywhere)
{
    static const char *const texts[] = {
        "", "#", "@", "$", "p", "plan_id=", ":", "a:", "a:/", "$Lambda", "#1"};
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        for (size_t j = 0; j < i; j++)
            CHECK(plan_hash_text(text_of(texts[i]), true) != 0);
}
