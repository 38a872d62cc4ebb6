#include "base/printable.h"

#include <stdio.h>
#include <string.h>

#include "unit_test.h"

static void check(const char *given, const char *wanted)
{
    char text[64];
    snprintf(text, sizeof(text), "%s", given);
    make_printable(text, strlen(text));
    CHECK(strcmp(text, wanted) == 0);
}

TEST(control_characters_are_replaced)
{
    check("plain text", "plain text");
    check("\033[31mred\r\n\t\177", "?[31mred????");
    check("\302\233H", "??H");
    check("caf\303\251 \302\240\302\261", "caf\303\251 \302\240\302\261");
    check("", "");
    check("\302", "\302");
}
