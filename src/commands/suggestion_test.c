#include "commands/suggestion.h"

#include <string.h>

#include "unit_test.h"

static const char *suggest(const char *typed)
{
    static const char *const names[] = {"record", "report", "top", "flame", "dump", "convert", "logs", NULL};
    struct suggestion suggestion = {0};
    for (size_t i = 0; names[i] != NULL; i++)
        suggestion_consider(&suggestion, text_of(typed), names[i]);
    return suggestion.name == NULL ? "none" : suggestion.name;
}

TEST(finds_the_nearest_name)
{
    CHECK(strcmp(suggest("recrod"), "record") == 0);
    CHECK(strcmp(suggest("reprot"), "report") == 0);
    CHECK(strcmp(suggest("flames"), "flame") == 0);
    CHECK(strcmp(suggest("covnert"), "convert") == 0);
    CHECK(strcmp(suggest("dupm"), "dump") == 0);
}

TEST(is_silent_about_what_resembles_nothing)
{
    CHECK(strcmp(suggest("quux"), "none") == 0);
    CHECK(strcmp(suggest(""), "none") == 0);
    CHECK(strcmp(suggest("x"), "none") == 0);
    CHECK(strcmp(suggest("a-name-that-is-longer-than-any-option-could-ever-be"), "none") == 0);
}
