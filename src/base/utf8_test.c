#include "base/utf8.h"

#include "unit_test.h"

TEST(valid_and_invalid_sequences)
{
    CHECK(utf8_is_valid(TEXT("")));
    CHECK(utf8_is_valid(TEXT("a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80")));
    const struct text_view broken[] = {
        TEXT("\x80"),
        TEXT("\xc0\xaf"),
        TEXT("\xc3"),
        TEXT("\xe0\x80\x80"),
        TEXT("\xed\xa0\x80"),
        TEXT("\xe2\x82"),
        TEXT("\xf0\x80\x80\x80"),
        TEXT("\xf4\x90\x80\x80"),
        TEXT("\xf5"),
        TEXT("a\xffz"),
        TEXT("\xf0\x9f\x98"),
        TEXT("\xe2\x28\xa1"),
    };
    for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++)
        CHECK(!utf8_is_valid(broken[i]));
}

TEST(invalid_bytes_are_replaced)
{
    struct text_builder builder;
    text_builder_init(&builder, 1000);
    utf8_add_mended(&builder, TEXT("a\xff\xc3\xa4\xe2\x82!"));
    CHECK_TEXT(text_builder_c_string(&builder), "a\xef\xbf\xbd\xc3\xa4\xef\xbf\xbd\xef\xbf\xbd!");
    CHECK(utf8_is_valid(text_builder_view(&builder)));
    text_builder_release(&builder);
}

TEST(every_code_point_comes_out_valid)
{
    struct text_builder builder;
    text_builder_init(&builder, 8000000);
    for (uint32_t point = 0; point <= 0x110001; point++) {
        text_builder_clear(&builder);
        utf8_add_code_point(&builder, point);
        CHECK_INT(utf8_character_size(text_builder_view(&builder)), builder.size);
    }
    text_builder_clear(&builder);
    utf8_add_code_point(&builder, 0xd800);
    CHECK_TEXT(text_builder_c_string(&builder), "\xef\xbf\xbd");
    text_builder_release(&builder);
}

TEST(lengths_and_prefixes_count_code_points)
{
    CHECK_INT(utf8_length(TEXT("a\xc3\xa4\xff\xf0\x9f\x98\x80")), 4);
    CHECK_INT(utf8_prefix(TEXT("a\xc3\xa4\xff"), 2).size, 3);
    CHECK_INT(utf8_prefix(TEXT("abc"), 99).size, 3);
    CHECK_INT(utf8_prefix(TEXT("abc"), 0).size, 0);
}
