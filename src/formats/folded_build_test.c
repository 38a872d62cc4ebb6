#include "formats/folded_build.h"

#include <stdio.h>

#include "unit_test.h"

static struct profile new_profile(void)
{
    struct profile profile;
    struct error error = {0};
    CHECK_OK(error, profile_init(&profile, false, &error));
    return profile;
}

static struct folded_builder new_builder(struct profile *profile)
{
    struct folded_builder builder;
    CHECK(folded_builder_init(&builder, profile, false));
    return builder;
}

/* Names from the node outwards. */
static const char *path_of(const struct profile *profile, uint32_t node)
{
    static char text[1000];
    size_t used = 0;
    text[0] = '\0';
    for (; node != STACK_ROOT; node = profile->stacks.nodes[node].parent)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "<%s",
                                 profile_frame_name(profile, profile->stacks.nodes[node].frame).data);
    return text;
}

static void check_path(struct profile *profile, struct folded_builder *builder, const char *stack,
                       const char *path)
{
    CHECK_TEXT(path_of(profile, folded_builder_add(builder, text_of(stack))), path);
}

TEST(common_callers_are_one_node)
{
    struct profile profile = new_profile();
    struct folded_builder builder = new_builder(&profile);
    check_path(&profile, &builder, "a;b;c", "<c<b<a");
    check_path(&profile, &builder, "a;b;d", "<d<b<a");
    check_path(&profile, &builder, "a;b", "<b<a");
    check_path(&profile, &builder, "b;a", "<a<b");
    CHECK_INT(profile.stacks.size, 1 + 4 + 2);
    CHECK_INT(profile.frames.size, 4);
    folded_builder_release(&builder);
    profile_release(&profile);
}

TEST(empty_frames_are_frames)
{
    struct profile profile = new_profile();
    struct folded_builder builder = new_builder(&profile);
    check_path(&profile, &builder, "a;;b;", "<<b<<a");
    check_path(&profile, &builder, ";", "<<");
    check_path(&profile, &builder, "", "");
    folded_builder_release(&builder);
    profile_release(&profile);
}

/* Names around the 16 bytes that are looked at together. */
TEST(frames_of_all_lengths)
{
    struct profile profile = new_profile();
    struct folded_builder builder = new_builder(&profile);
    for (int first = 0; first < 40; first++) {
        for (int second = 0; second < 20; second++) {
            char stack[100], path[100];
            snprintf(stack, sizeof(stack), "%0*d;%0*d;x", first + 1, 1, second + 1, 2);
            snprintf(path, sizeof(path), "<x<%0*d<%0*d", second + 1, 2, first + 1, 1);
            check_path(&profile, &builder, stack, path);
        }
    }
    CHECK_INT(profile.stacks.size, 1 + 40 + 2 * 40 * 20);
    folded_builder_release(&builder);
    profile_release(&profile);
}

TEST(many_stacks_are_found_again_also_by_a_second_builder)
{
    struct profile profile = new_profile();
    struct folded_builder builder = new_builder(&profile);
    static uint32_t nodes[5000];
    for (size_t round = 0; round < 3; round++) {
        for (unsigned i = 0; i < 5000; i++) {
            char stack[100];
            snprintf(stack, sizeof(stack), "main;%u;%u;%u;leaf", i % 7, i % 71, i);
            uint32_t node = folded_builder_add(&builder, text_of(stack));
            CHECK(round == 0 || nodes[i] == node);
            nodes[i] = node;
        }
        if (round == 1) {
            folded_builder_release(&builder);
            builder = new_builder(&profile);
        }
    }
    CHECK_INT(profile.stacks.size, 1 + 1 + 7 + 7 * 71 + 2 * 5000);
    folded_builder_release(&builder);
    profile_release(&profile);
}
