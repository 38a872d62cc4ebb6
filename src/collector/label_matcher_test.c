#include "collector/label_matcher.h"

#include <stdio.h>
#include <string.h>

#include "unit_test.h"

static bool read(const char *selector, struct label_matchers *matchers, struct arena *arena,
                 struct error *error)
{
    matchers->count = 0;
    return label_matchers_add(matchers, text_of(selector), arena, error);
}

TEST(reads_selectors)
{
    static const char *const good[] = {
        "", "{}", " { } ", "{a=\"b\"}", "a='b'", "{ a = \"b\" , c != `d` }", "{a=\"b\",}", "{a=~\"b|c\"}"};
    static const char *const bad[] = {
        "{",           "{a}",        "{a=b}",          "{a=\"b}",        "{a=\"b\" c=\"d\"}",
        "{=\"b\"}",    "{a==\"b\"}", "{a=~\"b(c)d\"}", "{a=~\"*\"}",     "{a=~\"b\\\\\"}",
        "{a=~\"b?\"}", "{,}",        "{a=~\"[bc]\"}",  "{a=~\"\\\\d\"}", "{a=~\"b\\\\.*\"}",
        "{a=~\".**\"}"};
    struct label_matchers matchers;
    struct arena arena;
    arena_init(&arena, 1 << 20);
    for (size_t i = 0; i < COUNT_OF(good); i++) {
        struct error error = {0};
        CHECK_OK(error, read(good[i], &matchers, &arena, &error));
    }
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct error error = {0};
        CHECK(!read(bad[i], &matchers, &arena, &error) && error.message[0] != '\0');
    }
    struct error error = {0};
    CHECK_OK(error, read("{ a.b = \"x\\\"y\\n\" , c !~ `d\\.` }", &matchers, &arena, &error));
    CHECK_INT(matchers.count, 2);
    CHECK(text_equal(matchers.items[0].name, TEXT("a.b")));
    CHECK(text_equal(matchers.items[0].value, TEXT("x\"y\n")));
    CHECK(matchers.items[1].is_negative && matchers.items[1].is_pattern);
    arena_release(&arena);
}

TEST(patterns)
{
    static const struct {
        const char *pattern, *good, *bad;
    } cases[] = {
        {"a", "a", "ab"},
        {"a|b", "b", "ab"},
        {"a|", "", "b"},
        {"(a|b)", "a", ""},
        {"^(?:a|b)$", "b", "c"},
        {".*", "", NULL},
        {".*", "anything", NULL},
        {".+", "x", ""},
        {"a.c", "abc", "ac"},
        {"a.*c", "ac", "acb"},
        {"a.*b.*c", "a1b2bc", "a1c2b"},
        {".*abc", "ababcabc", "ababcab"},
        {"a.+.+c", "a12c", "a1c"},
        {"a\\\\.b", "a.b", "axb"},
        {"a\\\\..*", "a.b", "ab"},
        {"x\\\\|y|z", "x|y", "x"},
        {"my\\\\-app", "my-app", "my\\-app"},
    };
    struct label_matchers matchers;
    struct arena arena;
    char selector[100];
    arena_init(&arena, 1 << 20);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct error error = {0};
        snprintf(selector, sizeof(selector), "{n=~\"%s\"}", cases[i].pattern);
        CHECK_OK(error, read(selector, &matchers, &arena, &error));
        CHECK(label_matcher_matches(&matchers.items[0], text_of(cases[i].good)));
        CHECK(cases[i].bad == NULL || !label_matcher_matches(&matchers.items[0], text_of(cases[i].bad)));
        matchers.items[0].is_negative = true;
        CHECK(!label_matcher_matches(&matchers.items[0], text_of(cases[i].good)));
    }
    arena_release(&arena);
}

TEST(no_pattern_takes_long)
{
    char selector[4000] = "{n=~\"", value[4001];
    struct label_matchers matchers;
    struct error error = {0};
    struct arena arena;
    arena_init(&arena, 1 << 20);
    for (size_t size = strlen(selector); size + 6 < sizeof(selector); size += 3)
        memcpy(selector + size, "a.*", 4);
    memcpy(selector + strlen(selector), "b\"}", 4);
    memset(value, 'a', sizeof(value));
    CHECK_OK(error, read(selector, &matchers, &arena, &error));
    CHECK(!label_matcher_matches(&matchers.items[0], (struct text_view){value, sizeof(value)}));
    arena_release(&arena);
}
