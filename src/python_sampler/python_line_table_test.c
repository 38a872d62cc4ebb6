#include "python_sampler/python_line_table.h"

#include "unit_test.h"

static uint32_t line_at(enum python_line_table_kind kind, struct text_view table, uint32_t first_line,
                        uint32_t offset)
{
    struct line_range ranges[64];
    size_t count = python_line_table_decode(kind, table, first_line, ranges, 64);
    return python_line_table_find(ranges, count, offset);
}

TEST(lnotab_counts_bytes_then_lines)
{
    /* Line 10 for 4 bytes, line 12 for 6, line 11 (backwards) from then on. */
    struct text_view table = TEXT("\x04\x02\x06\xff");
    CHECK_INT(line_at(LINE_TABLE_LNOTAB, table, 10, 0), 10);
    CHECK_INT(line_at(LINE_TABLE_LNOTAB, table, 10, 3), 10);
    CHECK_INT(line_at(LINE_TABLE_LNOTAB, table, 10, 4), 12);
    CHECK_INT(line_at(LINE_TABLE_LNOTAB, table, 10, 9), 12);
    CHECK_INT(line_at(LINE_TABLE_LNOTAB, table, 10, 10), 11);
    CHECK_INT(line_at(LINE_TABLE_LNOTAB, table, 10, 5000), 11);
}

TEST(lnotab_makes_long_steps_of_several_pairs)
{
    struct text_view table = TEXT("\xff\x00\x2d\x7f\x00\x7f\x00\x02");
    CHECK_INT(line_at(LINE_TABLE_LNOTAB, table, 1, 299), 1);
    CHECK_INT(line_at(LINE_TABLE_LNOTAB, table, 1, 300), 257);
}

TEST(ranges_change_the_line_first)
{
    /* 4 bytes of line 10, 2 bytes without a line, 6 bytes of line 13. */
    struct text_view table = TEXT("\x04\x00\x02\x80\x06\x03");
    CHECK_INT(line_at(LINE_TABLE_RANGES, table, 10, 3), 10);
    CHECK_INT(line_at(LINE_TABLE_RANGES, table, 10, 4), 0);
    CHECK_INT(line_at(LINE_TABLE_RANGES, table, 10, 6), 13);
    CHECK_INT(line_at(LINE_TABLE_RANGES, table, 10, 12), 0);
}

TEST(locations_have_several_forms)
{
    /* Short form, same line, 1 unit; line + 1, 2 units; long form, +70 lines; no location; no columns, -3 lines. */
    struct text_view table = TEXT("\x80\x12"
                                  "\xd9\x01\x02"
                                  "\xf0\x4c\x02\x00\x01\x01"
                                  "\xf8"
                                  "\xe8\x07");
    CHECK_INT(line_at(LINE_TABLE_LOCATIONS, table, 5, 0), 5);
    CHECK_INT(line_at(LINE_TABLE_LOCATIONS, table, 5, 2), 6);
    CHECK_INT(line_at(LINE_TABLE_LOCATIONS, table, 5, 5), 6);
    CHECK_INT(line_at(LINE_TABLE_LOCATIONS, table, 5, 6), 76);
    CHECK_INT(line_at(LINE_TABLE_LOCATIONS, table, 5, 8), 0);
    CHECK_INT(line_at(LINE_TABLE_LOCATIONS, table, 5, 10), 73);
    CHECK_INT(line_at(LINE_TABLE_LOCATIONS, table, 5, 12), 0);
}

TEST(damaged_tables_end_early)
{
    CHECK_INT(line_at(LINE_TABLE_LOCATIONS, TEXT("\x12\x34"), 5, 0), 0);
    CHECK_INT(line_at(LINE_TABLE_LOCATIONS, TEXT("\xf0\x7f\x7f\x7f\x7f\x7f\x7f\x7f"), 5, 0), 0);
    CHECK_INT(line_at(LINE_TABLE_RANGES, TEXT("\x04"), 5, 0), 0);
    CHECK_INT(line_at(LINE_TABLE_LNOTAB, TEXT(""), 5, 0), 5);
}

TEST(room_is_respected)
{
    struct line_range ranges[2];
    CHECK_INT(python_line_table_decode(LINE_TABLE_LNOTAB, TEXT("\x02\x01\x02\x01\x02\x01"), 1, ranges, 2), 2);
    CHECK_INT(ranges[1].line, 2);
}
