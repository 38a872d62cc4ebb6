#include "model/pattern.h"

#include "unit_test.h"

static bool matches(const char *expression, bool ignore_case, struct text_view text)
{
    struct error error = {0};
    struct pattern *pattern = pattern_new(expression, ignore_case, &error);
    if (pattern == NULL)
        unit_test_fail(__FILE__, __LINE__, "%s", error.message);
    bool result = pattern_matches(pattern, text);
    pattern_free(pattern);
    return result;
}

TEST(matches_anywhere)
{
    CHECK(matches("b+", false, TEXT("abbc")));
    CHECK(!matches("^b", false, TEXT("abbc")));
    CHECK(!matches("B", false, TEXT("abbc")));
    CHECK(matches("B", true, TEXT("abbc")));
    CHECK(matches("", false, TEXT("")));
    CHECK(matches("^$", false, (struct text_view){NULL, 0}));
}

TEST(any_bytes_may_be_searched)
{
    CHECK(matches("c", false, TEXT("a\xff\0c")));
    CHECK(matches("\xc3\xa4", false, TEXT("x\xc3\xa4")));
}

TEST(bad_expression_is_told_with_its_place)
{
    struct error error = {0};
    CHECK(pattern_new("a(b", false, &error) == NULL);
    CHECK_INT(error.code, ERROR_USAGE);
    CHECK(strstr(error.message, "a(b") != NULL);
    CHECK(strstr(error.message, "at character 4") != NULL);
}

TEST(expression_that_explodes_ends)
{
    CHECK(!matches("^(a+)+$", false,
                   (struct text_view){"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!", 57}));
}
