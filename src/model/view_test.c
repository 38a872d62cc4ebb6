#include "model/view.h"

#include "failing_memory.h"
#include "folded_profile.h"
#include "unit_test.h"

/* The node of a path of names; fails the test when there is none, or two. */
static uint32_t node_of(const struct view *view, const char *path)
{
    struct text_view rest = text_of(path);
    uint32_t node = STACK_ROOT;
    while (rest.size > 0) {
        struct text_view name = text_cut(&rest, ';');
        uint32_t found = NO_STACK;
        for (uint32_t i = 1; i < view->size; i++) {
            if (view->nodes[i].parent != node || !text_equal(view_name(view, i), name))
                continue;
            CHECK(found == NO_STACK);
            found = i;
        }
        CHECK(found != NO_STACK);
        node = found;
    }
    return node;
}

TEST(weights_sum_up)
{
    struct profile profile;
    struct view view;
    struct error error = {0};
    folded_profile_init(&profile, "a;b;c 1\na;b 2\na;d 4\nwall:a 100\n");
    struct view_options options = {.sides = 1};
    CHECK_OK(error, view_init(&view, &profile, &options, &error));
    CHECK(view.totals[0][STACK_ROOT] == 7);
    CHECK(view.totals[0][node_of(&view, "a")] == 7);
    CHECK(view.selfs[0][node_of(&view, "a")] == 0);
    CHECK(view.totals[0][node_of(&view, "a;b")] == 3);
    CHECK(view.selfs[0][node_of(&view, "a;b")] == 2);
    CHECK(view.totals[0][node_of(&view, "a;d")] == 4);
    view_release(&view);
    profile_release(&profile);
}

TEST(two_sides)
{
    struct profile profile;
    struct view view;
    struct error error = {0};
    folded_profile_init(&profile, "before:a;gone 1\nafter:a;new 2\nbefore:a 4\n");
    struct view_options options = {.sides = 2, .events = {0, 1}};
    CHECK_OK(error, view_init(&view, &profile, &options, &error));
    CHECK(view.totals[0][node_of(&view, "a")] == 5 && view.totals[1][node_of(&view, "a")] == 2);
    CHECK(view.totals[0][node_of(&view, "a;new")] == 0 && view.totals[1][node_of(&view, "a;gone")] == 0);
    view_release(&view);
    profile_release(&profile);
}

/* Sorted as text, F.apply;x stands between F.apply$mcV$sp and F.apply. */
TEST(one_method_is_one_box_whatever_sorts_between)
{
    struct profile profile;
    struct view view;
    struct error error = {0};
    folded_profile_init(&profile, "m;F.apply 1\nm;F.apply$mcV$sp;x 2\nm;F.apply;x 4\n");
    struct view_options options = {.sides = 1};
    CHECK_OK(error, view_init(&view, &profile, &options, &error));
    CHECK(view.totals[0][node_of(&view, "m;F.apply")] == 5);
    view_release(&view);
    profile_release(&profile);
}

TEST(frames_that_read_the_same_are_one_box)
{
    struct profile profile;
    struct view view;
    struct error error = {0};
    folded_profile_init(&profile, "");
    uint32_t event = profile_event(&profile, TEXT("cpu"), UNIT_COUNT, false);
    for (uint32_t line = 1; line <= 3; line++) {
        uint32_t frame = profile_frame(&profile, TEXT("f"), TEXT("f.py"), line, FRAME_PYTHON);
        struct sample sample = {.stack = stack_tree_child(&profile.stacks, STACK_ROOT, frame),
                                .event = event,
                                .time_ns = NO_TIME,
                                .value = line,
                                .count = line};
        CHECK(profile_add_sample(&profile, &sample));
    }
    struct view_options options = {.sides = 1, .events = {event}};
    CHECK_OK(error, view_init(&view, &profile, &options, &error));
    CHECK(view.totals[0][node_of(&view, "f")] == 6);
    view_release(&view);
    options.names.lines = true;
    CHECK_OK(error, view_init(&view, &profile, &options, &error));
    CHECK_INT(view.size, 4);
    view_release(&view);
    profile_release(&profile);
}

TEST(out_of_memory_is_told)
{
    struct profile profile;
    folded_profile_init(&profile, "a;b 1\na;c_[j] 2\n");
    FAIL_EACH_ALLOCATION
    {
        struct view view;
        struct error error = {0};
        struct view_options options = {.sides = 1, .names = {.readable = true}};
        bool good = view_init(&view, &profile, &options, &error);
        CHECK(good || failing_memory_failed());
        CHECK(good || error.message[0] != '\0');
        if (good)
            view_release(&view);
    }
    profile_release(&profile);
}
