#include "spark/log/log_bars.h"

#include "unit_test.h"

TEST(a_line_begins_behind_its_bars)
{
    static const char *const cases[][2] = {
        {"\r[Stage 15:==>        (3 + 2) / 6]26/11/16 17:36:07 WARN A: b", "26/11/16 17:36:07 WARN A: b"},
        {"\r[Stage 1:>  (0 + 1) / 2][Stage 2:>  (0 + 1) / 2]x", "x"},
        {"\r[Stage 1:>  (0 + 1) / 2]\r[Stage 1:=>  (1 + 1) / 2]x", "x"},
        {"\r                    \rx", "x"},
        {"[Stage 0:>  (0 + 0) / 200]x ]", "x ]"},
        {"\r[Stage 3:>  (0 + 1) / 2]", ""},
        {"\r[Stage 3:>  (0 + 1) / 2]\r            \r", ""},
        {"[Stage 3: is a text]x", "[Stage 3: is a text]x"},
        {"[Stage 3:> (0 + 1) / 2", "[Stage 3:> (0 + 1) / 2"},
        {"[Stage x:> (0 + 1) / 2]y", "[Stage x:> (0 + 1) / 2]y"},
        {"[Stage ]", "[Stage ]"},
        {"  [Stage 1:> (0 + 1) / 2]", "  [Stage 1:> (0 + 1) / 2]"},
        {"plain", "plain"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        CHECK(text_equal(log_bars_skip(text_of(cases[i][0])), text_of(cases[i][1])));
}
