#include "model/chart.h"

#include "base/text_builder.h"
#include "folded_profile.h"
#include "unit_test.h"

/* Boxes in the order they were made, with their depth: "1a 2b 1a". */
static const char *boxes(const char *text)
{
    static struct text_builder line;
    struct profile from, chart;
    struct error error = {0};
    folded_profile_init(&from, text);
    CHECK_OK(error, chart_make(&from, 0, &chart, &error));
    text_builder_release(&line);
    text_builder_init(&line, 1000);
    for (uint32_t i = 1; i < chart.stacks.size; i++) {
        struct text_view name = profile_frame_name(&chart, chart.stacks.nodes[i].frame);
        if (!text_equal(name, TEXT(CHART_FILLER)))
            text_builder_format(&line, "%zu%.*s ", stack_tree_depth(&chart.stacks, i), TEXT_FORMAT(name));
    }
    profile_release(&from);
    profile_release(&chart);
    return text_builder_c_string(&line);
}

TEST(only_neighbours_in_time_are_merged)
{
    CHECK_TEXT(boxes("@3:a;b 1\n@1:a;b 1\n@2:a;c 1\n"), "1a 2b 2c 2b ");
    CHECK_TEXT(boxes("@1:a 1\n@2:b 1\n@3:a 1\n"), "1a 1b 1a ");
    CHECK_TEXT(boxes("@1:a;b 1\n@2:a;b;c 1\n"), "1a 2b 3c ");
}

TEST(places_stand_for_times_that_are_missing)
{
    struct profile profile;
    folded_profile_init(&profile, "a 3\nb 2\nc 1\n");
    CHECK(chart_set_places(&profile));
    CHECK(profile.samples[0].time_ns == 3 && profile.samples[1].time_ns == 1);
    CHECK(profile.samples[2].time_ns == 0 && profile.end_ns == 6);
    CHECK(!chart_set_places(&profile));
    profile_release(&profile);
}

TEST(lines_without_times_stand_newest_first)
{
    CHECK_TEXT(boxes("a 1\nb 1\nc 1\n"), "1c 1b 1a ");
}
