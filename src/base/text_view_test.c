#include "base/text_view.h"

#include "unit_test.h"

static bool equal(struct text_view got, const char *expected)
{
    return text_equal(got, text_of(expected));
}

TEST(parts_are_cut_to_what_is_there)
{
    CHECK(equal(text_part(TEXT("abcdef"), 2, 3), "cde"));
    CHECK(equal(text_part(TEXT("abc"), 2, SIZE_MAX), "c"));
    CHECK(equal(text_part(TEXT("abc"), 9, 1), ""));
    CHECK(equal(text_from(TEXT("abc"), 3), ""));
    CHECK(text_starts_with(TEXT("abc"), TEXT("ab")));
    CHECK(!text_starts_with(TEXT("a"), TEXT("ab")));
    CHECK(text_ends_with(TEXT("abc"), TEXT("bc")));
    CHECK(!text_ends_with(TEXT("c"), TEXT("bc")));
}

TEST(finds_bytes_and_parts)
{
    CHECK_INT(text_find_byte(TEXT("a;b;c"), ';'), 1);
    CHECK_INT(text_find_last_byte(TEXT("a;b;c"), ';'), 3);
    CHECK(text_find_byte(TEXT(""), ';') == TEXT_NOT_FOUND);
    CHECK_INT(text_find(TEXT("one two"), TEXT("two")), 4);
    CHECK_INT(text_find(TEXT("one"), TEXT("")), 0);
    CHECK(text_find(TEXT("one"), TEXT("onemore")) == TEXT_NOT_FOUND);
    CHECK(text_find((struct text_view){NULL, 0}, TEXT("x")) == TEXT_NOT_FOUND);
}

TEST(compares_like_bytes)
{
    CHECK(text_compare(TEXT("a"), TEXT("b")) < 0);
    CHECK(text_compare(TEXT("a"), TEXT("aa")) < 0);
    CHECK(text_compare(TEXT("\xff"), TEXT("a")) > 0);
    CHECK_INT(text_compare(TEXT("a"), TEXT("a")), 0);
    CHECK_INT(text_compare((struct text_view){NULL, 0}, TEXT("")), 0);
}

TEST(trims_and_cuts)
{
    CHECK(equal(text_trim(TEXT(" \t a b\r\n")), "a b"));
    CHECK(equal(text_trim(TEXT("  ")), ""));
    struct text_view rest = TEXT("a;;b");
    CHECK(equal(text_cut(&rest, ';'), "a"));
    CHECK(equal(text_cut(&rest, ';'), ""));
    CHECK(equal(text_cut(&rest, ';'), "b"));
    CHECK(equal(text_cut(&rest, ';'), ""));
}

TEST(reads_whole_numbers)
{
    uint64_t number = 0;
    CHECK(text_to_u64(TEXT("18446744073709551615"), &number));
    CHECK(number == UINT64_MAX);
    CHECK(!text_to_u64(TEXT("18446744073709551616"), &number));
    CHECK(!text_to_u64(TEXT("99999999999999999999"), &number));
    CHECK(!text_to_u64(TEXT(""), &number));
    CHECK(!text_to_u64(TEXT("-1"), &number));
    CHECK(!text_to_u64(TEXT("1 "), &number));
    int64_t with_sign = 0;
    CHECK(text_to_i64(TEXT("-9223372036854775808"), &with_sign));
    CHECK(with_sign == INT64_MIN);
    CHECK(!text_to_i64(TEXT("9223372036854775808"), &with_sign));
    CHECK(!text_to_i64(TEXT("-"), &with_sign));
}

TEST(reads_hexadecimal_numbers)
{
    uint64_t number = 0;
    CHECK(text_to_hex64(TEXT("0xFFffffffffffffff"), &number));
    CHECK(number == UINT64_MAX);
    CHECK(text_to_hex64(TEXT("1a"), &number));
    CHECK_INT(number, 26);
    CHECK(!text_to_hex64(TEXT("0x"), &number));
    CHECK(!text_to_hex64(TEXT("1g"), &number));
    CHECK(!text_to_hex64(TEXT("@"), &number));
    CHECK(!text_to_hex64(TEXT("11112222333344445"), &number));
}

TEST(reads_fractions)
{
    double number = 0;
    CHECK(text_to_double(TEXT("-1.5e3"), &number));
    CHECK(number == -1500);
    CHECK(!text_to_double(TEXT("1.5x"), &number));
    CHECK(!text_to_double(TEXT(" 1"), &number));
    CHECK(!text_to_double(TEXT(""), &number));
    CHECK(!text_to_double(TEXT("1e999"), &number));
}
