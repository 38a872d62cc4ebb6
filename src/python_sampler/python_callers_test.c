#include "python_sampler/python_callers.h"

#include "unit_test.h"

#define CHUNK UINT64_C(0x7000)

TEST(callers_are_the_same_only_in_both_copies)
{
    struct python_callers callers;
    unsigned char first[64] = {1, 2, 3}, second[64] = {1, 2, 3};
    python_callers_init(&callers);
    CHECK(!python_callers_are_below(&callers, 0));
    python_callers_set(&callers, CHUNK, first, sizeof(first));
    callers.is_taken = true;
    CHECK(python_callers_are_below(&callers, CHUNK + sizeof(first)));
    CHECK(!python_callers_are_below(&callers, CHUNK + sizeof(first) + 8));
    CHECK(python_callers_equal(&callers, first, second));
    second[63] = 1;
    CHECK(!python_callers_equal(&callers, first, second));
    CHECK(!python_callers_equal(&callers, second, first));
    CHECK(!python_callers_equal(&callers, second, second));
    python_callers_release(&callers);
}

TEST(callers_of_a_stack_that_nobody_took_are_not_known)
{
    struct python_callers callers;
    unsigned char bytes[32] = {0};
    python_callers_init(&callers);
    python_callers_set(&callers, CHUNK, bytes, sizeof(bytes));
    CHECK(!python_callers_are_below(&callers, CHUNK + sizeof(bytes)));
    callers.is_taken = true;
    CHECK(python_callers_are_below(&callers, CHUNK + sizeof(bytes)));
    python_callers_set(&callers, CHUNK, bytes, 16);
    CHECK(!python_callers_are_below(&callers, CHUNK + 16));
    python_callers_release(&callers);
}

TEST(callers_are_steady_after_some_repeats)
{
    struct python_callers callers;
    unsigned char bytes[32] = {0};
    python_callers_init(&callers);
    python_callers_set(&callers, CHUNK, bytes, sizeof(bytes));
    callers.is_taken = true;
    CHECK(!python_callers_are_steady(&callers));
    for (int i = 0; i < 300; i++)
        python_callers_count_repeat(&callers);
    CHECK(python_callers_are_steady(&callers));
    python_callers_forget(&callers);
    CHECK(!python_callers_are_steady(&callers));
    python_callers_release(&callers);
}

TEST(callers_that_take_too_much_room_are_not_known)
{
    static unsigned char bytes[PYTHON_CALLERS_MOST_BYTES + 1];
    struct python_callers callers;
    python_callers_init(&callers);
    python_callers_set(&callers, CHUNK, bytes, sizeof(bytes));
    CHECK_INT(callers.size, 0);
    python_callers_set(&callers, CHUNK, bytes, sizeof(bytes) - 1);
    CHECK_INT(callers.size, PYTHON_CALLERS_MOST_BYTES);
    python_callers_release(&callers);
}
