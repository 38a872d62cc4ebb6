#include "base/ordered_work.h"

#include <stdatomic.h>
#include <string.h>

#include "failing_memory.h"
#include "unit_test.h"

#define PIECES 1000

struct work_run {
    size_t numbers[ORDERED_WORK_SLOTS];
    size_t squares[ORDERED_WORK_SLOTS];
    size_t next;
    size_t taken;
    size_t stop_at;
    atomic_size_t prepared;
};

static bool next_number(void *context, size_t slot)
{
    struct work_run *run = context;
    if (run->next == PIECES)
        return false;
    run->numbers[slot] = run->next++;
    return true;
}

static void square(void *context, size_t slot)
{
    struct work_run *run = context;
    run->squares[slot] = run->numbers[slot] * run->numbers[slot];
    atomic_fetch_add(&run->prepared, 1);
}

static bool take_square(void *context, size_t slot)
{
    struct work_run *run = context;
    CHECK_INT(run->squares[slot], run->taken * run->taken);
    return ++run->taken != run->stop_at;
}

static struct ordered_work work_of(struct work_run *run, size_t threads, size_t slots)
{
    return (struct ordered_work){.context = run,
                                 .threads = threads,
                                 .slots = slots,
                                 .next = next_number,
                                 .prepare = square,
                                 .take = take_square};
}

TEST(pieces_are_taken_once_and_in_order)
{
    static const size_t slots[] = {1, 2, 7, ORDERED_WORK_SLOTS};
    for (size_t threads = 1; threads <= 4; threads++) {
        for (size_t i = 0; i < sizeof(slots) / sizeof(*slots); i++) {
            struct work_run run = {.next = 0};
            struct ordered_work work = work_of(&run, threads, slots[i]);
            CHECK(ordered_work_run(&work));
            CHECK_INT(run.taken, PIECES);
            CHECK_INT(run.prepared, PIECES);
        }
    }
}

TEST(nothing_is_taken_after_a_stop)
{
    for (size_t threads = 1; threads <= 3; threads++) {
        struct work_run run = {.stop_at = 10};
        struct ordered_work work = work_of(&run, threads, 4);
        CHECK(!ordered_work_run(&work));
        CHECK_INT(run.taken, 10);
        CHECK(run.next <= 10 + 4);
    }
}

TEST(without_memory_the_caller_does_all)
{
    FAIL_EACH_ALLOCATION
    {
        struct work_run run = {.next = 0};
        struct ordered_work work = work_of(&run, 2, 4);
        CHECK(ordered_work_run(&work));
        CHECK_INT(run.taken, PIECES);
    }
}
