#include "model/comparison.h"

#include "failing_memory.h"
#include "folded_profile.h"
#include "unit_test.h"

static const char *compared(const char *left, const char *right, struct comparison_options options)
{
    struct profile before, after, both;
    struct error error = {0};
    folded_profile_init(&before, left);
    folded_profile_init(&after, right);
    CHECK_OK(error, comparison_make(&before, 0, &after, 0, &options, &both, &error));
    const char *text = folded_profile_text(&both);
    profile_release(&before);
    profile_release(&after);
    profile_release(&both);
    return text;
}

TEST(both_sides_stand_beside_each_other)
{
    CHECK_TEXT(compared("a;b 1\na;gone 2\n", "a;b 4\na;new 8\n", (struct comparison_options){0}),
               "after:a;b 4\nafter:a;new 8\nbefore:a;b 1\nbefore:a;gone 2\n");
}

TEST(before_is_scaled_to_after)
{
    CHECK_TEXT(compared("a 1\nb 3\n", "a 8\n", (struct comparison_options){.normalize = true}),
               "after:a 8\nbefore:a 2\nbefore:b 6\n");
}

TEST(empty_sides_scale_to_nothing_strange)
{
    CHECK_TEXT(compared("a 0\n", "a 8\n", (struct comparison_options){.normalize = true}),
               "after:a 8\nbefore:a 0\n");
    CHECK_TEXT(compared("a 8\n", "a 0\n", (struct comparison_options){.normalize = true}),
               "after:a 0\nbefore:a 0\n");
}

TEST(addresses_do_not_tell_frames_apart)
{
    CHECK_TEXT(
        compared("f 0x7fab12 1\n", "f 0x7fff00 2\n", (struct comparison_options){.strip_addresses = true}),
        "after:f 0x... 2\nbefore:f 0x... 1\n");
}
