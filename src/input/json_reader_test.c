#include "input/json_reader.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "unit_test.h"

static struct error error;

static void start(struct json_reader *json, const char *text)
{
    json_reader_init_memory(json, text_of(text), 0, 1000);
}

static enum json_token next(struct json_reader *json)
{
    return json_reader_next(json, &error);
}

/* All tokens as one text, such as "{ k:a 1 }". */
static const char *tokens_of(struct json_reader *json)
{
    static char result[2000];
    size_t used = 0;
    result[0] = '\0';
    for (;;) {
        char one[300];
        switch (next(json)) {
        case JSON_FAILED:
            snprintf(one, sizeof(one), "failed(%.200s)", error.message);
            break;
        case JSON_END:
            snprintf(one, sizeof(one), "end");
            break;
        case JSON_OBJECT_BEGIN:
            snprintf(one, sizeof(one), "{ ");
            break;
        case JSON_OBJECT_END:
            snprintf(one, sizeof(one), "} ");
            break;
        case JSON_ARRAY_BEGIN:
            snprintf(one, sizeof(one), "[ ");
            break;
        case JSON_ARRAY_END:
            snprintf(one, sizeof(one), "] ");
            break;
        case JSON_KEY:
            snprintf(one, sizeof(one), "%.*s: ", TEXT_FORMAT(json->text));
            break;
        case JSON_TEXT:
            snprintf(one, sizeof(one), "'%.*s' ", TEXT_FORMAT(json->text));
            break;
        case JSON_NUMBER:
            snprintf(one, sizeof(one), json->is_integer ? "%.0f " : "%g# ", json->number);
            break;
        case JSON_TRUE:
            snprintf(one, sizeof(one), "true ");
            break;
        case JSON_FALSE:
            snprintf(one, sizeof(one), "false ");
            break;
        case JSON_NULL:
            snprintf(one, sizeof(one), "null ");
            break;
        }
        used += (size_t)snprintf(result + used, sizeof(result) - used, "%s", one);
        if (one[0] == 'e' || (one[0] == 'f' && one[4] == 'e' && one[5] == 'd'))
            return result;
    }
}

static const char *tokens(const char *text)
{
    struct json_reader json;
    start(&json, text);
    const char *result = tokens_of(&json);
    json_reader_release(&json);
    return result;
}

TEST(reads_every_kind_of_value)
{
    CHECK_TEXT(tokens("{\"a\":1,\"b\":[true,false,null,\"x\"],\"c\":{}}"),
               "{ a: 1 b: [ true false null 'x' ] c: { } } end");
    CHECK_TEXT(tokens(" [ ] "), "[ ] end");
    CHECK_TEXT(tokens(""), "end");
}

TEST(reads_values_one_after_the_other)
{
    CHECK_TEXT(tokens("{\"a\":1}\n{\"a\":2}\r\n3 \"x\""), "{ a: 1 } { a: 2 } 3 'x' end");
}

TEST(reads_numbers)
{
    CHECK_TEXT(tokens("[0,-0,12,-7,1.5,2e3,-1.25E-2]"), "[ 0 0 12 -7 1.5# 2000# -0.0125# ] end");
    CHECK_TEXT(tokens("[9223372036854775807]"), "[ 9223372036854775808 ] end");
    CHECK_TEXT(tokens("[1e400]"), "[ failed(offset 6: neither a value nor a number within range)");
    CHECK_TEXT(tokens("[01]"), "[ failed(offset 3: neither a value nor a number within range)");
    CHECK_TEXT(tokens("[0x10]"), "[ failed(offset 5: neither a value nor a number within range)");
    CHECK_TEXT(tokens("[-]"), "[ failed(offset 2: neither a value nor a number within range)");
    CHECK_TEXT(tokens("17"), "17 end");
}

TEST(keeps_large_integers_exact)
{
    struct json_reader json;
    start(&json, "[1550400755483123457]");
    CHECK(next(&json) == JSON_ARRAY_BEGIN);
    CHECK(next(&json) == JSON_NUMBER);
    CHECK(json.is_integer && json.integer == 1550400755483123457);
    json_reader_release(&json);
}

TEST(accepts_the_numbers_of_python)
{
    struct json_reader json;
    start(&json, "[NaN,-Infinity]");
    CHECK(next(&json) == JSON_ARRAY_BEGIN);
    CHECK(next(&json) == JSON_NUMBER && isnan(json.number) && !json.is_integer);
    CHECK(next(&json) == JSON_NUMBER && isinf(json.number) && json.number < 0);
    json_reader_release(&json);
}

TEST(undoes_escapes)
{
    CHECK_TEXT(tokens("\"a\\\"b\\\\c\\/d\\n\\t\""), "'a\"b\\c/d\n\t' end");
    CHECK_TEXT(tokens("\"\\u0041\\u00e9\\u20AC\""), "'A\xc3\xa9\xe2\x82\xac' end");
    CHECK_TEXT(tokens("\"\\ud83d\\ude00!\""), "'\xf0\x9f\x98\x80!' end");
    CHECK_TEXT(tokens("{\"k\\u0031\":2}"), "{ k1: 2 } end");
}

TEST(mends_half_surrogate_pairs)
{
    CHECK_TEXT(tokens("\"\\ud83dx\""), "'\xef\xbf\xbdx' end");
    CHECK_TEXT(tokens("\"\\ud83d\""), "'\xef\xbf\xbd' end");
    CHECK_TEXT(tokens("\"\\ud83d\\n\""), "'\xef\xbf\xbd\n' end");
    CHECK_TEXT(tokens("\"\\ud83d\\ud83d\\ude00\""), "'\xef\xbf\xbd\xf0\x9f\x98\x80' end");
    CHECK_TEXT(tokens("\"\\ude00\""), "'\xef\xbf\xbd' end");
}

TEST(says_where_it_is_wrong)
{
    CHECK_TEXT(tokens("{\"a\" 1}"), "{ a: failed(offset 5: no colon after the name of a member)");
    CHECK_TEXT(tokens("{a:1}"), "{ failed(offset 1: no name of a member where one must stand)");
    CHECK_TEXT(tokens("[1 2]"), "[ 1 failed(offset 3: neither , nor ] after a value)");
    CHECK_TEXT(tokens("[1,"), "[ 1 failed(offset 3: the JSON ends too early)");
    CHECK_TEXT(tokens("[1,]"), "[ 1 failed(offset 3: neither a value nor a number within range)");
    CHECK_TEXT(tokens("{\"a\":1,}"), "{ a: 1 failed(offset 7: no name of a member where one must stand)");
    CHECK_TEXT(tokens("[\"abc"), "[ failed(offset 5: the JSON ends too early)");
    CHECK_TEXT(tokens("[\"\\q\"]"), "[ failed(offset 3: unknown escape in a string)");
    CHECK_TEXT(tokens("[\"\\u12g4\"]"), "[ failed(offset 6: \\u without four hexadecimal digits)");
    CHECK_TEXT(tokens("[1}"), "[ 1 failed(offset 2: neither , nor ] after a value)");
    CHECK_TEXT(tokens("nul"), "failed(offset 3: neither a value nor a number within range)");
    CHECK_TEXT(tokens("}"), "failed(offset 0: neither a value nor a number within range)");
}

TEST(counts_offsets_from_the_place_in_the_file)
{
    struct json_reader json;
    json_reader_init_memory(&json, TEXT("[1,]"), 100, 1000);
    CHECK_TEXT(tokens_of(&json), "[ 1 failed(offset 103: neither a value nor a number within range)");
    CHECK(next(&json) == JSON_FAILED);
    json_reader_reset_memory(&json, TEXT("[1]"), 0);
    CHECK_TEXT(tokens_of(&json), "[ 1 ] end");
    json_reader_release(&json);
}

TEST(refuses_deep_nesting)
{
    char text[JSON_DEPTH_LIMIT + 2];
    memset(text, '[', sizeof(text));
    text[JSON_DEPTH_LIMIT + 1] = '\0';
    struct json_reader json;
    start(&json, text);
    for (int i = 0; i < JSON_DEPTH_LIMIT; i++)
        CHECK(next(&json) == JSON_ARRAY_BEGIN);
    CHECK(next(&json) == JSON_FAILED);
    CHECK_TEXT(error.message, "offset 1024: the JSON is nested too deeply");
    json_reader_release(&json);
}

TEST(refuses_long_strings)
{
    char text[3000];
    memset(text, 'x', sizeof(text));
    memcpy(text, "\"\\n", 3);
    text[sizeof(text) - 2] = '"';
    text[sizeof(text) - 1] = '\0';
    CHECK_TEXT(tokens(text), "failed(offset 2998: a string is too long)");
}

TEST(skips_values)
{
    struct json_reader json;
    start(&json, "{\"a\":[1,{\"b\":[]}],\"c\":5}");
    CHECK(next(&json) == JSON_OBJECT_BEGIN && next(&json) == JSON_KEY);
    CHECK_OK(error, json_reader_skip_next(&json, &error));
    CHECK(next(&json) == JSON_KEY && text_equal(json.text, TEXT("c")));
    CHECK_OK(error, json_reader_skip_next(&json, &error));
    CHECK(next(&json) == JSON_OBJECT_END && next(&json) == JSON_END);
    json_reader_release(&json);
}

TEST(says_what_it_expected)
{
    struct json_reader json;
    start(&json, "[\"a\"]");
    CHECK_OK(error, json_reader_expect(&json, JSON_ARRAY_BEGIN, "a list", &error));
    CHECK(!json_reader_expect(&json, JSON_NUMBER, "a number", &error));
    CHECK_TEXT(error.message, "offset 4: expected a number");
    json_reader_release(&json);
}
