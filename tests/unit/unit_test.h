/*
 * unit_test.h - a small runner: every TEST runs in a process of its own and reports in TAP.
 *
 *     TEST(adds_two_strings)
 *     {
 *         CHECK(table.size == 2);
 *         CHECK_INT(count, 3);
 *         CHECK_TEXT(name, "main");
 *     }
 *
 * A failed check ends its test. `test_program NAME…` runs only those tests.
 */
#ifndef UNIT_TEST_H
#define UNIT_TEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct unit_test {
    const char *name;
    void (*run)(void);
    struct unit_test *next;
};

void unit_test_register(struct unit_test *test);
_Noreturn void unit_test_fail(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void unit_test_check_text(const char *file, int line, const char *got, const char *expected);
/* The file tests/data/NAME; the result lives until the test ends. */
const char *unit_test_data(const char *name);

#define TEST(test_name)                                                      \
    static void test_##test_name(void);                                      \
    __attribute__((constructor)) static void register_##test_name(void)      \
    {                                                                        \
        static struct unit_test test = {#test_name, test_##test_name, NULL}; \
        unit_test_register(&test);                                           \
    }                                                                        \
    static void test_##test_name(void)

#define CHECK(condition)                                          \
    do {                                                          \
        if (!(condition))                                         \
            unit_test_fail(__FILE__, __LINE__, "%s", #condition); \
    } while (0)

#define CHECK_INT(got, expected)                                                                         \
    do {                                                                                                 \
        long long got_value = (long long)(got), expected_value = (long long)(expected);                  \
        if (got_value != expected_value)                                                                 \
            unit_test_fail(__FILE__, __LINE__, "%s is %lld, not %lld", #got, got_value, expected_value); \
    } while (0)

#define CHECK_TEXT(got, expected) unit_test_check_text(__FILE__, __LINE__, got, expected)

/* For functions that take a struct error: CHECK_OK(error, arena_init(…)). */
#define CHECK_OK(error_value, call)                                                     \
    do {                                                                                \
        if (!(call))                                                                    \
            unit_test_fail(__FILE__, __LINE__, "%s: %s", #call, (error_value).message); \
    } while (0)

#endif
