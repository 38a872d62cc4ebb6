#include "collector/regression_results.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "failing_memory.h"
#include "unit_test.h"

static void add(struct regression_results *results, const char *application, int64_t checked_ms,
                const char *json)
{
    struct regression_key key;
    regression_key_set(&key, "etl", application, "");
    CHECK(regression_results_add(results, &key, checked_ms, text_of(json)));
}

static bool read_text(struct regression_results *results, const char *text)
{
    char path[] = "/tmp/regression_results_XXXXXX";
    struct error error = {0};
    int file = mkstemp(path);
    CHECK(file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text));
    close(file);
    bool good = regression_results_read(results, path, &error);
    unlink(path);
    return good;
}

TEST(a_newer_result_takes_the_place_of_an_older_one)
{
    struct regression_results results = {.items = NULL};
    struct regression_key key;
    regression_key_set(&key, "etl", "app-1", "");
    add(&results, "app-1", 5, "{\"a\":1}\n");
    add(&results, "app-2", 6, "");
    CHECK_TEXT(regression_results_find(&results, &key)->json, "{\"a\":1}");
    add(&results, "app-1", 7, "");
    CHECK_INT(results.count, 2);
    CHECK(regression_results_find(&results, &key)->json == NULL);
    CHECK(regression_results_find(&results, &key)->checked_ms == 7);
    regression_key_set(&key, "web", "app-1", "");
    CHECK(regression_results_find(&results, &key) == NULL);
    regression_results_release(&results);
}

TEST(there_are_limits)
{
    struct regression_results results = {.items = NULL};
    char name[32];
    for (int i = 0; i < RESULT_LIMIT + 10; i++) {
        snprintf(name, sizeof(name), "app-%d", i);
        add(&results, name, i, "{\"a\":1}");
    }
    CHECK_INT(results.count, RESULT_LIMIT);
    size_t texts = 0;
    for (size_t i = 0; i < results.count; i++)
        texts += results.items[i].json != NULL;
    CHECK_INT(texts, UNREPORTED_LIMIT);
    CHECK(results.items[RESULT_LIMIT - 1].json != NULL && results.items[0].checked_ms == 10);
    regression_results_release(&results);
}

static size_t count_texts(const struct regression_results *results)
{
    size_t texts = 0;
    for (size_t i = 0; i < results->count; i++)
        texts += results->items[i].json != NULL;
    return texts;
}

TEST(results_without_a_regression_go_first_and_unreported_ones_stay)
{
    struct regression_results results = {.items = NULL};
    char name[32];
    add(&results, "slow", 1, "{\"a\":1}");
    for (int i = 0; i < RESULT_LIMIT + 10; i++) {
        snprintf(name, sizeof(name), "app-%d", i);
        add(&results, name, 2 + i, "");
    }
    CHECK_INT(results.count, RESULT_LIMIT);
    CHECK_TEXT(results.items[0].key.application, "slow");
    for (int i = 0; i < REGRESSION_LIMIT + 10; i++) {
        snprintf(name, sizeof(name), "more-%d", i);
        add(&results, name, 5000 + i, "{\"a\":2}");
        results.items[results.count - 1].reported_ms = 5000 + i;
    }
    CHECK_INT(results.count, RESULT_LIMIT);
    CHECK(count_texts(&results) <= REGRESSION_LIMIT);
    CHECK(results.items[0].json != NULL);
    regression_results_release(&results);
}

TEST(what_was_written_is_read_back)
{
    struct regression_results results = {.items = NULL}, again;
    struct text_builder text;
    text_builder_init(&text, 1 << 20);
    add(&results, "app-1", 5, "{\"a\":\"b c\"}");
    results.items[0].reported_ms = 3;
    add(&results, "app-2", 6, "");
    regression_results_write(&results, &text);
    CHECK_TEXT(text_builder_c_string(&text), "5 3 etl app-1 - {\"a\":\"b c\"}\n6 0 etl app-2 - -\n");
    CHECK(read_text(&again, text_builder_c_string(&text)));
    CHECK(again.count == 2 && again.items[0].reported_ms == 3 && again.items[1].reported_ms == 0);
    CHECK_TEXT(again.items[0].json, "{\"a\":\"b c\"}");
    CHECK(again.items[1].json == NULL);
    regression_results_release(&again);
    regression_results_release(&results);
    text_builder_release(&text);
}

TEST(damaged_lines_are_skipped)
{
    struct regression_results results;
    CHECK(read_text(&results,
                    "x\n5 6 etl app - -\n5 1 .. app - -\n5 1 etl a/b - -\n5 1 etl app - {\n"
                    "99999999999999999999 1 etl app - -\n5 1 etl app - [1]\n7 1 etl app 2 {\"a\":1}"));
    CHECK(results.count == 1 && results.items[0].checked_ms == 7);
    CHECK_TEXT(results.items[0].key.attempt, "2");
    regression_results_release(&results);
    CHECK(read_text(&results, ""));
    CHECK_INT(results.count, 0);
    regression_results_release(&results);
}

TEST(memory_may_fail)
{
    struct regression_key key;
    regression_key_set(&key, "etl", "app", "1");
    FAIL_EACH_ALLOCATION
    {
        struct regression_results results = {.items = NULL};
        bool good = regression_results_add(&results, &key, 1, TEXT("{}"));
        CHECK(good || failing_memory_failed());
        regression_results_release(&results);
    }
}
