#include "model/profile_methods.h"

#include "failing_memory.h"
#include "folded_profile.h"
#include "unit_test.h"

static uint32_t number_of(const struct profile_methods *sums, const char *name)
{
    uint32_t method = string_table_find(&sums->names, text_of(name));
    CHECK(method != NO_STRING);
    return method;
}

static const struct method_sum *sum_of(const struct profile_methods *sums, const char *name)
{
    return &sums->methods[number_of(sums, name)];
}

TEST(a_method_counts_once_for_a_stack)
{
    struct profile profile;
    struct profile_methods sums;
    struct error error = {0};
    folded_profile_init(&profile, "main;f;g;f;h 3\nmain;f 2\nmain;g 5\nwall:main;f 100\n");
    struct profile_methods_options options = {.event = 0};
    CHECK_OK(error, profile_methods_init(&sums, &profile, &options, &error));
    CHECK(sums.total == 10);
    CHECK(sum_of(&sums, "main")->total == 10 && sum_of(&sums, "main")->self == 0);
    CHECK(sum_of(&sums, "f")->total == 5 && sum_of(&sums, "f")->self == 2);
    CHECK(sum_of(&sums, "g")->total == 8 && sum_of(&sums, "g")->self == 5);
    CHECK(sum_of(&sums, "h")->total == 3 && sum_of(&sums, "h")->self == 3);
    CHECK(sums.focus == NO_METHOD && sums.application_count == 0);
    profile_methods_release(&sums);
    profile_release(&profile);
}

TEST(callers_and_callees_add_up)
{
    struct profile profile;
    struct profile_methods sums;
    struct error error = {0};
    folded_profile_init(&profile, "main;f;g;f;h 3\nmain;f 2\nmain;g 5\nf;f;k 7\nother;main;g;f;g 4\n");
    struct profile_methods_options options = {.event = 0, .focus = TEXT("f")};
    CHECK_OK(error, profile_methods_init(&sums, &profile, &options, &error));
    CHECK(sums.focus == number_of(&sums, "f"));
    /* Of 16 in f: called by main 5, by g 4, by none 7; f itself 2, in h 3, k 7 and g 4. */
    CHECK(sum_of(&sums, "f")->total == 16 && sum_of(&sums, "f")->self == 2);
    CHECK(sum_of(&sums, "main")->calls_focus == 5 && sum_of(&sums, "g")->calls_focus == 4);
    CHECK(sum_of(&sums, "f")->calls_focus == 0 && sums.focus_is_root == 7);
    CHECK(sum_of(&sums, "h")->called_by_focus == 3 && sum_of(&sums, "k")->called_by_focus == 7);
    CHECK(sum_of(&sums, "g")->called_by_focus == 4 && sum_of(&sums, "f")->called_by_focus == 0);
    CHECK_INT(sums.application_count, 1);
    CHECK(sums.applications[0].name == 0 && sums.applications[0].all == 21);
    CHECK(sums.applications[0].total == 16 && sums.applications[0].self == 2);
    profile_methods_release(&sums);
    options.focus = TEXT("none");
    CHECK_OK(error, profile_methods_init(&sums, &profile, &options, &error));
    CHECK(sums.focus == NO_METHOD && sums.applications[0].total == 0);
    profile_methods_release(&sums);
    profile_release(&profile);
}

TEST(memory_may_fail)
{
    struct profile profile;
    folded_profile_init(&profile, "main;f;g 3\nmain;f 2\n");
    struct profile_methods_options options = {.event = 0, .focus = TEXT("f")};
    FAIL_EACH_ALLOCATION
    {
        struct profile_methods sums;
        struct error error = {0};
        bool good = profile_methods_init(&sums, &profile, &options, &error);
        CHECK(good || failing_memory_failed());
        profile_methods_release(&sums);
    }
    profile_release(&profile);
}
