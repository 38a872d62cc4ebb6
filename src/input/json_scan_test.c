#include "input/json_scan.h"

#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "unit_test.h"

static long behind(const char *text)
{
    const char *end = json_scan_nested(text, text + strlen(text));
    return end == NULL ? -1 : end - text;
}

TEST(nested_ends_at_its_own_bracket)
{
    CHECK(behind("{}") == 2);
    CHECK(behind("[1,[2,{\"a\":[]}],3],4]") == 18);
    CHECK(behind("{\"a}\":\"]\\\"}\"},1") == 13);
    CHECK(behind("[\"\\\\\"]]") == 6);
}

TEST(nested_that_does_not_end)
{
    CHECK(behind("{\"a\":1") == -1);
    CHECK(behind("[\"]") == -1);
    CHECK(behind("[\"\\") == -1);
}

TEST(nested_that_ends_in_the_wrong_way)
{
    CHECK(behind("[}") == -1);
    CHECK(behind("{\"a\":[1,2}]") == -1);
    CHECK(behind("[[[{}]}]") == -1);
    CHECK(behind("[{\"long enough for a whole block of bytes, in which nothing but this stands\":[1,2}]}]") ==
          -1);
}

/* As deep as it looks, and one level more, which it leaves to others. */
TEST(nested_very_deep)
{
    char text[2 * 65 + 1] = "";
    for (size_t depth = 64; depth <= 65; depth++) {
        memset(text, '[', depth);
        memset(text + depth, ']', depth);
        text[2 * depth] = '\0';
        CHECK(behind(text) == (depth == 64 ? 128 : -1));
    }
}

/* Every piece of syntax at every place of a block and across its border. */
TEST(nested_at_every_place)
{
    static const char *const items[] = {"\"x\"", "\"\\\"]\"", "{\"k\":\"}\"}", "\"\\\\\"", "[[],{}]"};
    for (size_t item = 0; item < sizeof(items) / sizeof(items[0]); item++) {
        for (size_t blanks = 0; blanks < 200; blanks++) {
            char text[300];
            int size = snprintf(text, sizeof(text), "[%*s%s]", (int)blanks, "", items[item]);
            char *exact = malloc((size_t)size);
            memcpy(exact, text, (size_t)size);
            CHECK(json_scan_nested(exact, exact + size) == exact + size);
            CHECK(json_scan_nested(exact, exact + size - 1) == NULL);
            free(exact);
        }
    }
}

TEST(string_ends_at_quote_or_backslash)
{
    for (size_t plain = 0; plain < 60; plain++) {
        char text[80];
        memset(text, 'x', sizeof(text));
        text[plain] = plain % 2 == 0 ? '"' : '\\';
        CHECK(json_scan_string(text, text + sizeof(text)) == text + plain);
        CHECK(json_scan_string(text, text + plain) == text + plain);
    }
}
