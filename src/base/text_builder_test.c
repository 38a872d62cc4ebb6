#include "base/text_builder.h"

#include "failing_memory.h"
#include "unit_test.h"

TEST(appends_all_kinds)
{
    struct text_builder builder;
    text_builder_init(&builder, 1000);
    CHECK_INT(text_builder_view(&builder).size, 0);
    text_builder_add(&builder, TEXT("a"));
    text_builder_add_c_string(&builder, "bc");
    text_builder_add_byte(&builder, ' ');
    text_builder_add_u64(&builder, UINT64_MAX);
    text_builder_add_byte(&builder, ' ');
    text_builder_add_i64(&builder, INT64_MIN);
    text_builder_format(&builder, " %d%%", 5);
    CHECK_TEXT(text_builder_c_string(&builder), "abc 18446744073709551615 -9223372036854775808 5%");
    CHECK(!builder.failed);
    text_builder_clear(&builder);
    CHECK_TEXT(text_builder_c_string(&builder), "");
    text_builder_release(&builder);
}

TEST(limit_keeps_what_was_there)
{
    struct text_builder builder;
    text_builder_init(&builder, 8);
    text_builder_add(&builder, TEXT("12345"));
    text_builder_add(&builder, TEXT("6789"));
    CHECK(builder.failed);
    text_builder_add(&builder, TEXT("x"));
    CHECK_INT(builder.size, 5);
    text_builder_clear(&builder);
    text_builder_add(&builder, TEXT("12345678"));
    CHECK(!builder.failed);
    CHECK_INT(builder.size, 8);
    text_builder_release(&builder);
}

TEST(long_formatted_text_fits)
{
    struct text_builder builder;
    text_builder_init(&builder, 100000);
    text_builder_format(&builder, "%*d", 50000, 1);
    CHECK_INT(builder.size, 50000);
    CHECK_INT(builder.data[49999], '1');
    text_builder_release(&builder);
}

TEST(out_of_memory_sets_failed)
{
    FAIL_EACH_ALLOCATION
    {
        struct text_builder builder;
        text_builder_init(&builder, 1000);
        for (int i = 0; i < 50; i++)
            text_builder_format(&builder, "%d,", i);
        CHECK(builder.failed == failing_memory_failed());
        text_builder_release(&builder);
    }
}
