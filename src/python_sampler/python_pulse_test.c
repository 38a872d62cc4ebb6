#include "python_sampler/python_pulse.h"

#include "unit_test.h"

#define THREAD 0x1000
#define HOLDER 0x2000
#define OTHER 0x3000

static struct python_thread thread_noted(uint64_t holder, uint64_t switches, bool is_steady)
{
    struct python_interpreter interpreter = {
        .last_holder = holder, .switches = switches, .is_steady = is_steady};
    return (struct python_thread){.address = THREAD, .gil_note = python_pulse_note(&interpreter)};
}

static bool is_still(const struct python_thread *thread, uint64_t holder, uint64_t switches)
{
    return python_pulse_proves_still(
        thread, &(struct python_interpreter){.last_holder = holder, .switches = switches});
}

TEST(who_never_had_the_gil_stands_still)
{
    struct python_thread thread = thread_noted(HOLDER, 7, true);
    CHECK(is_still(&thread, HOLDER, 7));
    CHECK(is_still(&thread, OTHER, 8));
}

TEST(who_may_have_had_the_gil_does_not)
{
    struct python_thread thread = thread_noted(HOLDER, 7, true);
    CHECK(!is_still(&thread, THREAD, 8));
    CHECK(!is_still(&thread, OTHER, 9));
    CHECK(!is_still(&thread, OTHER, 7));
    CHECK(!is_still(&thread, 0, 7));
    thread = thread_noted(THREAD, 7, true);
    CHECK(!is_still(&thread, THREAD, 7));
    CHECK(!is_still(&thread, OTHER, 8));
    thread = thread_noted(0, 7, true);
    CHECK(!is_still(&thread, HOLDER, 7));
}

TEST(a_state_read_during_a_switch_proves_less)
{
    struct python_thread thread = thread_noted(HOLDER, 7, false);
    CHECK(is_still(&thread, HOLDER, 7));
    CHECK(!is_still(&thread, OTHER, 8));
}
