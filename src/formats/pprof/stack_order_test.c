#include "formats/pprof/stack_order.h"

#include <stdlib.h>

#include "formats/format_test.h"

static uint32_t child(struct profile *profile, uint32_t parent, const char *name)
{
    return stack_tree_child(&profile->stacks, parent,
                            profile_frame(profile, text_of(name), TEXT(""), 0, FRAME_NATIVE));
}

TEST(neighbours_share_their_callers)
{
    struct profile profile;
    struct stack_order order;
    struct error error = {0};
    CHECK_OK(error, profile_init(&profile, false, &error));
    CHECK(profile_event(&profile, TEXT("cpu"), UNIT_COUNT, false) == 0);
    uint32_t b = child(&profile, STACK_ROOT, "b"), a = child(&profile, STACK_ROOT, "a");
    uint32_t a_x = child(&profile, a, "x"), b_c = child(&profile, b, "c"), a_x_y = child(&profile, a_x, "y");
    uint32_t a_z = child(&profile, a, "z"), b_d = child(&profile, b, "d");
    const uint32_t stacks[] = {b_c, a_x_y, b, a_z, b_d, a_x}, walked[] = {b, b_c, b_d, a_x, a_x_y, a_z};
    for (size_t i = 0; i < COUNT_OF(stacks); i++)
        CHECK(profile_add_sample(&profile, &(struct sample){stacks[i], 0, 0, NO_TIME, 1, 1}));
    CHECK_OK(error, stack_order_init(&order, &profile, &error));
    CHECK_INT(order.size, COUNT_OF(walked));
    for (size_t i = 0; i < order.size; i++)
        CHECK_INT(profile.samples[order.rows[i].sample].stack, walked[i]);
    stack_order_release(&order);
    profile_release(&profile);
}

TEST(equal_stacks_and_contexts_have_one_key)
{
    struct profile profile;
    struct stack_order order;
    struct error error = {0};
    CHECK_OK(error, profile_init(&profile, true, &error));
    struct label label = {LABEL_THREAD, profile_string(&profile, TEXT("t"))};
    uint32_t context = context_table_add(&profile.contexts, &label, 1);
    uint32_t stack = stack_tree_child(&profile.stacks, STACK_ROOT,
                                      profile_frame(&profile, TEXT("f"), TEXT(""), 0, FRAME_NATIVE));
    CHECK(profile_event(&profile, TEXT("cpu"), UNIT_COUNT, false) == 0);
    for (int i = 0; i < 1000; i++) {
        struct sample sample = {stack, i % 2 == 0 ? context : 0, 0, i, 1, 1};
        CHECK(profile_add_sample(&profile, &sample));
    }
    CHECK_OK(error, stack_order_init(&order, &profile, &error));
    for (size_t i = 0; i < 1000; i++) {
        CHECK(order.rows[i].key == order.rows[i < 500 ? 0 : 500].key);
        CHECK_INT(profile.samples[order.rows[i].sample].time_ns, i < 500 ? 2 * i + 1 : 2 * (i - 500));
    }
    CHECK(order.rows[0].key != order.rows[500].key);
    stack_order_release(&order);
    profile_release(&profile);
}

TEST(nothing_has_no_order)
{
    struct profile profile;
    struct stack_order order;
    struct error error = {0};
    CHECK_OK(error, profile_init(&profile, false, &error));
    CHECK_OK(error, stack_order_init(&order, &profile, &error));
    CHECK_INT(order.size, 0);
    stack_order_release(&order);
    profile_release(&profile);
}
