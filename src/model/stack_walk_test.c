#include "model/stack_walk.h"

#include <string.h>

#include "failing_memory.h"
#include "listed_stack.h"
#include "unit_test.h"

#define DEEPEST 700
#define STACKS 900

/* Innermost first; codes of several lengths, outer frames shared, every fifth with a frame more than the one before. */
static size_t make_frames(uint32_t *frames, unsigned seed)
{
    static const uint32_t some[] = {0, 1, 190, 191, 12479, 995520};
    size_t count = seed % 113 == 0 ? DEEPEST - seed % 3 : (seed - (seed % 5 == 4)) % 37 + (seed % 5 == 4);
    for (size_t i = 0; i < count; i++)
        frames[count - 1 - i] =
            i < 9 ? some[seed / 5 % 4]
                  : some[((seed - (seed % 5 == 4)) * 2654435761u >> i % 11) % COUNT_OF(some)];
    return count;
}

/* The stack that the steps lead to. */
struct shown {
    uint32_t frames[DEEPEST + 2];
    size_t depth;
};

static void step(struct shown *shown, struct stack_walk *walk, uint32_t stack)
{
    struct stack_step step;
    CHECK(stack_walk_go(walk, stack, &step));
    CHECK(step.kept <= shown->depth);
    CHECK(step.kept + step.count <= COUNT_OF(shown->frames));
    memcpy(shown->frames + step.kept, step.frames, step.count * sizeof(*step.frames));
    shown->depth = step.kept + step.count;
}

static void check_shown(const struct shown *shown, const uint32_t *frames, size_t count)
{
    CHECK_INT(shown->depth, count);
    for (size_t i = 0; i < count; i++)
        CHECK_INT(shown->frames[i], frames[count - 1 - i]);
}

/* A profile whose stacks are listed; numbers[i] is that of make_frames(i), leaves[i] the same with frame 77 more. */
static void list_stacks(struct profile *profile, uint32_t *numbers, uint32_t *leaves)
{
    struct stack_list list;
    struct error error = {0};
    uint32_t frames[DEEPEST];
    CHECK_OK(error, profile_init(profile, false, &error));
    stack_list_init(&list);
    for (unsigned i = 0; i < STACKS; i++) {
        numbers[i] = listed_stack_add(&list, frames, make_frames(frames, i));
        leaves[i] = stack_list_add_leaf(&list, numbers[i], 77);
        CHECK(numbers[i] != NO_STACK && leaves[i] != NO_STACK);
    }
    CHECK(profile_list_stacks(profile, &list));
}

/* Goes to all stacks in an order of chance, to each one and its leaf, and to some twice. */
static void check_walk(const struct profile *profile, const uint32_t *numbers, const uint32_t *leaves)
{
    struct stack_walk walk;
    struct shown shown = {.depth = 0};
    uint32_t frames[DEEPEST + 1];
    stack_walk_init(&walk, profile);
    for (unsigned i = 0; i < 2 * STACKS; i++) {
        unsigned seed = i * 7919 % STACKS;
        size_t count = make_frames(frames + 1, seed);
        frames[0] = 77;
        if (i % 3 != 0) {
            step(&shown, &walk, numbers[seed]);
            check_shown(&shown, frames + 1, count);
        }
        if (i % 3 != 1) {
            step(&shown, &walk, leaves[seed]);
            check_shown(&shown, frames, count + 1);
        }
    }
    stack_walk_release(&walk);
}

TEST(listed_stacks_are_gone_through)
{
    static uint32_t numbers[STACKS], leaves[STACKS];
    struct profile profile;
    list_stacks(&profile, numbers, leaves);
    check_walk(&profile, numbers, leaves);
    profile_release(&profile);
}

TEST(stacks_of_the_tree_are_gone_through)
{
    static uint32_t numbers[STACKS], leaves[STACKS];
    struct profile profile;
    struct error error = {0};
    uint32_t frames[DEEPEST + 1] = {77};
    list_stacks(&profile, numbers, leaves);
    CHECK_OK(error, profile_place_stacks(&profile, &error));
    CHECK(profile.listed == NULL);
    for (unsigned i = 0; i < STACKS; i++) {
        size_t count = make_frames(frames + 1, i);
        numbers[i] = stack_tree_path(&profile.stacks, STACK_ROOT, frames + 1, count);
        leaves[i] = stack_tree_path(&profile.stacks, STACK_ROOT, frames, count + 1);
    }
    check_walk(&profile, numbers, leaves);
    profile_release(&profile);
}

TEST(neighbours_in_rank_share_most)
{
    static uint32_t numbers[STACKS], leaves[STACKS], ranks[2 * STACKS], order[2 * STACKS];
    struct profile profile;
    struct stack_walk walk;
    size_t taken = 0;
    list_stacks(&profile, numbers, leaves);
    CHECK(stack_list_rank(profile.listed, ranks));
    for (uint32_t i = 0; i < profile.listed->size; i++)
        order[ranks[i]] = i;
    stack_walk_init(&walk, &profile);
    for (size_t i = 0; i < profile.listed->size; i++) {
        struct stack_step change;
        CHECK_INT(ranks[order[i]], i);
        CHECK(stack_walk_go(&walk, order[i], &change));
        taken += change.count;
    }
    stack_walk_release(&walk);
    /* Each node of the tree but the root is met once. */
    struct error error = {0};
    CHECK_OK(error, profile_place_stacks(&profile, &error));
    CHECK(taken + 1 - profile.stacks.size <
          STACKS / 50); /* a leaf that some path goes on with is met twice */
    profile_release(&profile);
}

TEST(says_when_memory_is_out)
{
    FAIL_EACH_ALLOCATION
    {
        struct profile profile;
        struct stack_list list;
        struct stack_walk walk;
        struct stack_step change;
        struct error error = {0};
        const uint32_t frames[] = {3, 2, 1};
        bool good = profile_init(&profile, false, &error);
        stack_list_init(&list);
        uint32_t path = good ? listed_stack_add(&list, frames, COUNT_OF(frames)) : NO_STACK;
        good = path != NO_STACK && profile_list_stacks(&profile, &list);
        stack_walk_init(&walk, &profile);
        good = good && stack_walk_go(&walk, path, &change);
        stack_walk_release(&walk);
        good = good && profile_place_stacks(&profile, &error);
        CHECK(good || failing_memory_failed());
        CHECK(profile.listed == NULL || !good);
        stack_list_release(&list);
        profile_release(&profile);
    }
}
