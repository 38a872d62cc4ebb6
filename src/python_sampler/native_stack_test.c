#include "python_sampler/native_stack.h"

#include "unit_test.h"

#define LOOP              \
    {                     \
        NO_FUNCTION, true \
    }
#define HIDDEN             \
    {                      \
        NO_FUNCTION, false \
    }
#define NATIVE(number)  \
    {                   \
        (number), false \
    }

static void check_merge(const struct native_frame *native, size_t native_count,
                        const struct merged_python *python, size_t python_count, const uint32_t *expected,
                        size_t expected_count)
{
    struct python_frame merged[32];
    struct native_stack stack = {.frames = (struct native_frame *)(uintptr_t)native, .count = native_count};
    CHECK_INT(native_stack_merge(&stack, python, python_count, merged), expected_count);
    for (size_t i = 0; i < expected_count; i++)
        CHECK_INT(merged[i].function, expected[i]);
}

TEST(frames_of_one_call_of_the_loop_stand_together)
{
    static const struct native_frame native[] = {NATIVE(1), NATIVE(2), LOOP,     HIDDEN,
                                                 NATIVE(3), LOOP,      NATIVE(9)};
    static const struct merged_python python[] = {
        {{11, 0}, false}, {{12, 0}, true}, {{13, 0}, false}, {{NO_FUNCTION, 0}, false}, {{14, 0}, true}};
    static const uint32_t expected[] = {1, 2, 11, 12, 3, 13, 14};
    check_merge(native, 7, python, 5, expected, 7);
}

TEST(when_calls_are_missing_only_the_innermost_native_frames_are_taken)
{
    static const struct native_frame native[] = {NATIVE(1), LOOP, NATIVE(2)};
    static const struct merged_python python[] = {{{11, 0}, true}, {{12, 0}, true}};
    static const uint32_t expected[] = {1, 11, 12};
    check_merge(native, 3, python, 2, expected, 3);
}

TEST(without_a_call_of_the_loop_there_are_no_native_frames)
{
    static const struct native_frame native[] = {NATIVE(1), NATIVE(2)};
    static const struct merged_python python[] = {{{11, 0}, true}};
    static const uint32_t expected[] = {11};
    check_merge(native, 2, python, 1, expected, 1);
}
