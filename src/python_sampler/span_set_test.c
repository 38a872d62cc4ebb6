#include "python_sampler/span_set.h"

#include "unit_test.h"

TEST(near_pieces_become_one_span)
{
    struct span_set set;
    span_set_init(&set);
    CHECK(span_set_add(&set, 0x1000, 0x50, 1));
    CHECK(span_set_add(&set, 0x1100, 0x50, 1));
    CHECK_INT(set.count, 1);
    CHECK_INT(set.total_bytes, 0x150);
    CHECK(span_set_add(&set, 0x9000, 0x50, 1));
    CHECK_INT(set.count, 2);
    CHECK(span_set_find(&set, 0x1120, 0x10, NULL) == &set.spans[0]);
    CHECK(span_set_find(&set, 0x9040, 0x10, NULL) == &set.spans[1]);
    CHECK(span_set_find(&set, 0x9040, 0x11, NULL) == NULL);
    CHECK(span_set_find(&set, 0x5000, 0x10, NULL) == NULL);
    CHECK_INT(set.spans[1].offset, 0x150);
    span_set_release(&set);
}

TEST(a_piece_between_joins_its_neighbours)
{
    struct span_set set;
    span_set_init(&set);
    CHECK(span_set_add(&set, 10000, 100, 1));
    CHECK(span_set_add(&set, 14000, 100, 1));
    CHECK(span_set_add(&set, 90000, 100, 1));
    CHECK_INT(set.count, 3);
    CHECK(span_set_add(&set, 12050, 100, 2));
    CHECK_INT(set.count, 2);
    CHECK_INT(set.spans[0].start, 10000);
    CHECK_INT(set.spans[0].end, 14100);
    CHECK_INT(set.spans[1].start, 90000);
    span_set_release(&set);
}

TEST(lesser_spans_stand_behind_the_others)
{
    struct span_set set;
    span_set_init(&set);
    CHECK(span_set_add_lesser(&set, 10000, 100, 1));
    CHECK(span_set_add(&set, 50000, 200, 1));
    CHECK_INT(set.spans[0].offset, 200);
    CHECK_INT(set.spans[1].offset, 0);
    CHECK_INT(set.plain_bytes, 200);
    CHECK_INT(set.total_bytes, 300);
    CHECK(span_set_add_lesser(&set, 50100, 10, 1));
    CHECK(!set.spans[1].is_lesser);
    CHECK(span_set_add(&set, 10050, 10, 1));
    CHECK_INT(set.plain_bytes, 300);
    span_set_release(&set);
}

TEST(unused_spans_expire)
{
    struct span_set set;
    span_set_init(&set);
    CHECK(span_set_add(&set, 10000, 100, 5));
    CHECK(span_set_add(&set, 50000, 100, 9));
    span_set_expire(&set, 7);
    CHECK_INT(set.count, 1);
    CHECK_INT(set.spans[0].start, 50000);
    CHECK_INT(set.spans[0].offset, 0);
    span_set_release(&set);
}

TEST(a_lesser_span_of_its_own_can_be_dropped)
{
    struct span_set set;
    span_set_init(&set);
    CHECK(span_set_add(&set, 10000, 100, 1));
    CHECK(span_set_add_lesser(&set, 50000, 100, 1));
    span_set_drop_lesser(&set, 10000, 100);
    span_set_drop_lesser(&set, 50001, 100);
    span_set_drop_lesser(&set, 50000, 99);
    span_set_drop_lesser(&set, 90000, 100);
    CHECK_INT(set.count, 2);
    span_set_drop_lesser(&set, 50000, 100);
    CHECK_INT(set.count, 1);
    CHECK_INT(set.total_bytes, 100);
    CHECK(span_set_find(&set, 50000, 100, NULL) == NULL);
    span_set_release(&set);
}

TEST(impossible_pieces_are_refused)
{
    struct span_set set;
    span_set_init(&set);
    CHECK(!span_set_add(&set, UINT64_MAX - 8, 100, 1));
    CHECK(span_set_add(&set, 0x900, 64, 1));
    CHECK(span_set_find(&set, UINT64_MAX - 7, 72, &set.spans[0]) == NULL);
    span_set_clear(&set);
    for (uint64_t i = 0; i < SPAN_SET_MOST_SPANS; i++)
        CHECK(span_set_add(&set, 0x100000 * (i + 1), 64, 1));
    CHECK(!span_set_add(&set, 0x10, 64, 1));
    span_set_release(&set);
}
