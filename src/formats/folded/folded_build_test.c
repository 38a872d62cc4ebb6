#include "formats/folded/folded_build.h"

#include <stdio.h>
#include <stdlib.h>

#include "failing_memory.h"
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

static uint32_t *add_all(struct folded_builder *builder, const char *const *stacks, size_t count)
{
    for (uint32_t i = 0; i < count; i++)
        CHECK_INT(folded_builder_add(builder, text_of(stacks[i])), i);
    uint32_t *nodes = folded_builder_place(builder);
    CHECK(nodes != NULL);
    return nodes;
}

/* Adds the stacks by one builder; paths[i] is what becomes of stacks[i]. */
static void check_paths(struct profile *profile, const char *const *stacks, const char *const *paths,
                        size_t count)
{
    struct folded_builder builder = new_builder(profile);
    uint32_t *nodes = add_all(&builder, stacks, count);
    for (size_t i = 0; i < count; i++)
        CHECK_TEXT(path_of(profile, nodes[i]), paths[i]);
    free(nodes);
    folded_builder_release(&builder);
}

TEST(common_callers_are_one_node)
{
    static const char *const stacks[] = {"a;b;c", "a;b;d", "a;b", "b;a"};
    static const char *const paths[] = {"<c<b<a", "<d<b<a", "<b<a", "<a<b"};
    struct profile profile = new_profile();
    check_paths(&profile, stacks, paths, COUNT_OF(stacks));
    CHECK_INT(profile.stacks.size, 1 + 4 + 2);
    CHECK_INT(profile.frames.size, 4);
    profile_release(&profile);
}

TEST(empty_frames_are_frames)
{
    static const char *const stacks[] = {"a;;b;", ";", ""};
    static const char *const paths[] = {"<<b<<a", "<<", ""};
    struct profile profile = new_profile();
    check_paths(&profile, stacks, paths, COUNT_OF(stacks));
    profile_release(&profile);
}

/* Names around the 16 bytes that are looked at together. */
TEST(frames_of_all_lengths)
{
    static char stacks[40 * 20][100], paths[40 * 20][100];
    const char *stack_list[40 * 20], *path_list[40 * 20];
    size_t count = 0;
    for (int first = 0; first < 40; first++) {
        for (int second = 0; second < 20; second++, count++) {
            snprintf(stacks[count], sizeof(stacks[0]), "%0*d;%0*d;x", first + 1, 1, second + 1, 2);
            snprintf(paths[count], sizeof(paths[0]), "<x<%0*d<%0*d", second + 1, 2, first + 1, 1);
            stack_list[count] = stacks[count];
            path_list[count] = paths[count];
        }
    }
    struct profile profile = new_profile();
    check_paths(&profile, stack_list, path_list, count);
    CHECK_INT(profile.stacks.size, 1 + 40 + 2 * 40 * 20);
    profile_release(&profile);
}

TEST(a_second_builder_finds_the_nodes_of_the_first)
{
    static uint32_t first[5000];
    struct profile profile = new_profile();
    for (size_t round = 0; round < 2; round++) {
        struct folded_builder builder = new_builder(&profile);
        for (unsigned i = 0; i < 5000; i++) {
            char stack[100];
            snprintf(stack, sizeof(stack), "main;%u;%u;%u;leaf", i % 7, i % 71, i);
            CHECK_INT(folded_builder_add(&builder, text_of(stack)), i);
        }
        uint32_t *nodes = folded_builder_place(&builder);
        CHECK(nodes != NULL);
        for (unsigned i = 0; i < 5000; i++) {
            CHECK(round == 0 || first[i] == nodes[i]);
            first[i] = nodes[i];
        }
        CHECK_INT(profile.stacks.size, 1 + 1 + 7 + 7 * 71 + 2 * 5000);
        free(nodes);
        folded_builder_release(&builder);
    }
    profile_release(&profile);
}

TEST(fails_cleanly_without_memory)
{
    FAIL_EACH_ALLOCATION
    {
        struct profile profile;
        struct folded_builder builder = {.profile = NULL};
        struct error error = {0};
        uint32_t *nodes = NULL;
        if (profile_init(&profile, false, &error)) {
            if (folded_builder_init(&builder, &profile, false) &&
                folded_builder_add(&builder, TEXT("a;b;c")) != NO_STACK)
                nodes = folded_builder_place(&builder);
            folded_builder_release(&builder);
        }
        free(nodes);
        profile_release(&profile);
    }
}
