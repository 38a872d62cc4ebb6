#include "base/string_table.h"

#include <stdio.h>

#include "failing_memory.h"
#include "unit_test.h"

TEST(equal_strings_have_one_number)
{
    struct string_table table;
    CHECK(string_table_init(&table, 1000));
    CHECK_INT(string_table_add(&table, TEXT("")), 0);
    CHECK_INT(string_table_add(&table, (struct text_view){NULL, 0}), 0);
    CHECK_INT(string_table_add(&table, TEXT("a")), 1);
    CHECK_INT(string_table_add(&table, TEXT("b")), 2);
    CHECK_INT(string_table_add(&table, text_part(TEXT("xax"), 1, 1)), 1);
    CHECK_INT(string_table_find(&table, TEXT("b")), 2);
    CHECK_INT(string_table_find(&table, TEXT("c")), NO_STRING);
    CHECK_INT(table.size, 3);
    CHECK_TEXT(string_table_c_string(&table, 2), "b");
    CHECK_TEXT(string_table_c_string(&table, 99), "");
    string_table_release(&table);
}

TEST(zero_bytes_are_kept_apart)
{
    struct string_table table;
    CHECK(string_table_init(&table, 1000));
    uint32_t with_zero = string_table_add(&table, TEXT("a\0b"));
    CHECK(with_zero != string_table_add(&table, TEXT("a")));
    CHECK_INT(string_table_text(&table, with_zero).size, 3);
    string_table_release(&table);
}

TEST(many_strings_of_all_lengths)
{
    struct string_table table;
    CHECK(string_table_init(&table, (size_t)16 << 20));
    char text[80];
    for (int i = 1; i <= 20000; i++) {
        int size = snprintf(text, sizeof(text), "%0*d", 1 + i % 40, i);
        CHECK_INT(string_table_add(&table, (struct text_view){text, (size_t)size}), i);
    }
    for (int i = 1; i <= 20000; i++) {
        int size = snprintf(text, sizeof(text), "%0*d", 1 + i % 40, i);
        CHECK_INT(string_table_find(&table, (struct text_view){text, (size_t)size}), i);
        CHECK_TEXT(string_table_c_string(&table, (uint32_t)i), text);
    }
    string_table_release(&table);
}

TEST(limit_is_told)
{
    struct string_table table;
    CHECK(string_table_init(&table, 64));
    CHECK(string_table_add(&table, TEXT("short")) != NO_STRING);
    char large[100] = {0};
    CHECK_INT(string_table_add(&table, (struct text_view){large, sizeof(large)}), NO_STRING);
    CHECK_INT(string_table_add(&table, TEXT("short")), 1);
    string_table_release(&table);
}

TEST(out_of_memory_is_told_and_known_strings_stay)
{
    FAIL_EACH_ALLOCATION
    {
        struct string_table table;
        if (!string_table_init(&table, (size_t)1 << 20)) {
            CHECK(failing_memory_failed());
            continue;
        }
        char text[16];
        for (uint32_t i = 1; i <= 600; i++) {
            int size = snprintf(text, sizeof(text), "name%u", i);
            uint32_t number = string_table_add(&table, (struct text_view){text, (size_t)size});
            CHECK(number != NO_STRING || failing_memory_failed());
            if (number != NO_STRING)
                CHECK_TEXT(string_table_c_string(&table, number), text);
        }
        CHECK_INT(string_table_find(&table, TEXT("")), 0);
        string_table_release(&table);
    }
}
