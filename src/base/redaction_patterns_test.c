#include "base/redaction_patterns.h"

#include "unit_test.h"

static bool hides(const char *pattern, const char *key, const char *value)
{
    struct redaction_patterns patterns;
    redaction_patterns_init(&patterns, pattern, NULL);
    CHECK(!patterns.hides_all);
    bool hidden = redaction_patterns_hide(&patterns, key, value);
    redaction_patterns_release(&patterns);
    return hidden;
}

TEST(knows_what_applications_write)
{
    CHECK(hides("(?i)secret|password|token|access[.]?key", "fs.s3a.Access.Key", "x"));
    CHECK(hides("(?i)secret|password|token|access[.]?key", "name", "has a TOKEN"));
    CHECK(!hides("(?i)secret|password|token|access[.]?key", "spark.app.name", "x"));
    CHECK(!hides("secret", "SECRET", "x"));
    CHECK(hides("(?:acme|corp)\\.pin\\d+", "acme.pin42", "x"));
    CHECK(!hides("(?:acme|corp)\\.pin\\d+", "acme_pin42", "x"));
    CHECK(hides("^my\\.[\\w.]+?\\.code$", "my.very.own.code", "x"));
    CHECK(hides("[^a-z]{3,8}\\s", "a", "ABC "));
}

TEST(knows_several_repetitions)
{
    CHECK(hides("\\d{4}-\\d{4}", "a", "1234-5678"));
    CHECK(!hides("^\\d{4}-\\d{4}$", "a", "1234-567"));
    CHECK(hides("\\d{4}(?:[ -]?\\d{4}){3}", "a", "card 1234 5678-90123456"));
    CHECK(hides("[A-Z]{2}\\d{2,}?[{}]{1,2}", "a", "DE12{}"));
    CHECK(hides("(a{10}){10}", "a",
                "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
                "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"));
}

TEST(hides_all_if_a_pattern_cannot_be_translated)
{
    static const char *const patterns[] = {
        "a(?=b)",
        "(?<!x)y",
        "\\p{Alpha}",
        "[a-z&&[^b]]",
        "[",
        "(",
        "(a{60}){60}",
        "a{999}",
        "",
        "\\Qa\\E",
        "a)",
        "[]]",
        "((a{9}){9}){99}",
        "(abcdefghij{2}){200}",
    };
    for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
        for (int in_texts = 0; in_texts < 2; in_texts++) {
            struct redaction_patterns left;
            redaction_patterns_init(&left, in_texts ? "zz" : patterns[i], in_texts ? patterns[i] : "zz");
            CHECK(left.hides_all);
            CHECK(redaction_patterns_hide(&left, "a", "b"));
            CHECK(redaction_patterns_hide(&left, "", "b"));
            CHECK(redaction_patterns_hide(&left, "-Djava.versions", "17"));
            CHECK(!redaction_patterns_hide(&left, "java.version", "17"));
            CHECK(!redaction_patterns_hide(&left, "-Dspark.executor.cores", "4"));
            redaction_patterns_release(&left);
        }
}

TEST(declared_patterns_are_added)
{
    struct redaction_patterns patterns;
    struct text_builder text;
    text_builder_init(&text, 1000);
    redaction_patterns_declare("acme", "card-\\d+");
    redaction_patterns_declare(NULL, NULL);
    redaction_patterns_init(&patterns, "own", "pin-\\d+");
    CHECK(redaction_patterns_hide(&patterns, "acme", "x") && redaction_patterns_hide(&patterns, "own", "x"));
    CHECK(!redaction_patterns_hide(&patterns, "other", "x"));
    redaction_patterns_apply(&patterns, "card-12 b pin-3 c", &text);
    CHECK_TEXT(text_builder_c_string(&text), "*********(redacted) b *********(redacted) c");
    redaction_patterns_release(&patterns);
    redaction_patterns_declare("a(?=b)", NULL);
    redaction_patterns_init(&patterns, "own", NULL);
    CHECK(patterns.hides_all);
    CHECK(redaction_patterns_hide(&patterns, "other", "x"));
    redaction_patterns_release(&patterns);
    text_builder_release(&text);
}

TEST(empty_matches_do_not_end_the_search)
{
    struct redaction_patterns patterns;
    struct text_builder text;
    text_builder_init(&text, 1000);
    redaction_patterns_init(&patterns, NULL, "\\d*");
    redaction_patterns_apply(&patterns, "ab12c", &text);
    CHECK_TEXT(text_builder_c_string(&text), "ab*********(redacted)c");
    redaction_patterns_release(&patterns);
    text_builder_release(&text);
}

TEST(matches_in_texts_are_replaced)
{
    struct redaction_patterns patterns;
    struct text_builder text;
    text_builder_init(&text, 1000);
    redaction_patterns_init(&patterns, NULL, "card-\\d+");
    redaction_patterns_apply(&patterns, "a card-12 b card-3", &text);
    CHECK_TEXT(text_builder_c_string(&text), "a *********(redacted) b *********(redacted)");
    redaction_patterns_release(&patterns);
    text_builder_release(&text);
}
