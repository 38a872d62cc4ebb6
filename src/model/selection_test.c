#include "model/selection.h"

#include "folded_profile.h"
#include "unit_test.h"

static struct selection selection;
static struct error error;

static struct pattern *pattern(const char *expression)
{
    struct pattern *made = pattern_new(expression, false, &error);
    if (made == NULL)
        unit_test_fail(__FILE__, __LINE__, "%s", error.message);
    return made;
}

/* What the selection leaves of the text; ends the selection. */
static const char *selected(const char *text)
{
    struct profile from, to;
    folded_profile_init(&from, text);
    CHECK_OK(error, profile_init(&to, true, &error));
    bool good = selection_apply(&selection, &from, &to, &error);
    const char *result = good ? folded_profile_text(&to) : error.message;
    profile_release(&from);
    profile_release(&to);
    selection_release(&selection);
    return result;
}

TEST(nothing_asked_nothing_changed)
{
    selection_init(&selection);
    CHECK(selection_is_all(&selection));
    CHECK_TEXT(selected("a;b 1\nwall:c 2\n"), "a;b 1\nwall:c 2\n");
}

TEST(by_event)
{
    selection_init(&selection);
    selection.event = "wall";
    CHECK(!selection_is_all(&selection));
    CHECK_TEXT(selected("a;b 1\nwall:c 2\n"), "wall:c 2\n");
    selection.event = "lock";
    CHECK_TEXT(selected("a;b 1\nwall:c 2\n"), "no samples of event \"lock\"; there are: cpu, wall");
}

TEST(by_stack)
{
    selection_init(&selection);
    selection.include[selection.include_count++] = pattern("^b$");
    selection.include[selection.include_count++] = pattern("d");
    selection.exclude[selection.exclude_count++] = pattern("x");
    CHECK_TEXT(selected("a;b;c 1\na;c 2\nd 4\nd;x 8\nbb 16\n"), "a;b;c 1\nd 4\n");
}

TEST(by_frame)
{
    selection_init(&selection);
    selection.drop_frames[selection.drop_frame_count++] = pattern("^b$");
    CHECK_TEXT(selected("a;b;c 1\na;c 2\n"), "a;c 3\n");
    selection.only_frames[selection.only_frame_count++] = pattern("c");
    CHECK_TEXT(selected("a;b;c 1\na;c 2\n"), "c 3\n");
}

TEST(by_label)
{
    selection_init(&selection);
    selection.labels[selection.label_count++] = (struct label_filter){.name = "stage", .values = "3,4"};
    CHECK_TEXT(selected("stage=3:a 1\nstage=4:a 2\nstage=33:a 4\na 8\n"), "a 3\n");
    selection.labels[selection.label_count++] = (struct label_filter){.name = "nonsense", .values = "1"};
    CHECK(strstr(selected("a 1\n"), "no label \"nonsense\"; there are: thread, ") != NULL);
}

TEST(by_time)
{
    selection_init(&selection);
    selection.from_ns = 20;
    selection.to_ns = 40;
    CHECK_TEXT(selected("@10:a 1\n@20:b 1\n@39:c 1\n@40:d 1\n"), "b 1\nc 1\n");
    selection.from_ns = 10;
    selection.from_is_relative = true;
    CHECK_TEXT(selected("@10:a 1\n@20:b 1\n@39:c 1\n@40:d 1\n"), "b 1\nc 1\nd 1\n");
    selection.from_ns = -1;
    selection.from_is_relative = true;
    CHECK_TEXT(selected("@10:a 1\n@20:b 1\n@39:c 1\n@40:d 1\n"), "c 1\nd 1\n");
    selection.from_ns = 1;
    CHECK_TEXT(selected("a 1\n"), "the samples have no times to select by");
}

TEST(grouped_by_label)
{
    selection_init(&selection);
    selection.group_names[selection.group_count++] = "stage";
    selection.group_names[selection.group_count++] = "thread";
    CHECK_TEXT(selected("stage=3:a 1\nthread=main:a 2\n"), "[no stage];main;a 2\nstage 3;[no thread];a 1\n");
}

TEST(turned_round)
{
    selection_init(&selection);
    selection.reverse = true;
    CHECK_TEXT(selected("a;b;c 1\nb;c 2\n"), "c;b 2\nc;b;a 1\n");
}

TEST(recursion_is_one_frame)
{
    selection_init(&selection);
    selection.collapse_recursion = true;
    CHECK_TEXT(selected("a;f;f;f;b;f 1\na;f;b;f 2\n"), "a;f;b;f 3\n");
}

TEST(small_subtrees_are_one)
{
    selection_init(&selection);
    selection.min_share = 0.1;
    CHECK_TEXT(selected("a;big 85\na;fair 10\na;small;x 3\na;tiny 2\n"),
               "a;[other] 5\na;big 85\na;fair 10\n");
}

TEST(totals_stay_when_all_frames_go)
{
    selection_init(&selection);
    selection.drop_frames[selection.drop_frame_count++] = pattern(".");
    const char *text = selected("a;b 3\nc 4\n");
    CHECK(strstr(text, " 7\n") != NULL);
}
