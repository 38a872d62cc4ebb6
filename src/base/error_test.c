#include "base/error.h"

#include <errno.h>
#include <string.h>

#include "unit_test.h"

TEST(newest_text_wins)
{
    struct error error = {0};
    CHECK(!error_set(&error, ERROR_BAD_INPUT, "line %d", 1));
    CHECK(!error_set(&error, ERROR_USAGE, "no %s", "file"));
    CHECK_INT(error.code, ERROR_USAGE);
    CHECK_TEXT(error.message, "no file");
}

TEST(system_errors_say_why)
{
    struct error error = {0};
    errno = ENOENT;
    CHECK(!error_set_system(&error, "cannot open %s", "x"));
    CHECK_INT(error.code, ERROR_SYSTEM);
    CHECK_TEXT(error.message, "cannot open x: No such file or directory");
}

TEST(prefix_goes_before)
{
    struct error error = {0};
    error_set(&error, ERROR_BAD_INPUT, "line 1");
    CHECK(!error_prefix(&error, "%s", "a.txt"));
    CHECK_TEXT(error.message, "a.txt: line 1");
    CHECK_INT(error.code, ERROR_BAD_INPUT);
}

TEST(long_texts_are_cut)
{
    struct error error = {0};
    error_set(&error, ERROR_BAD_INPUT, "%*d", 5000, 1);
    CHECK_INT(strlen(error.message), sizeof(error.message) - 1);
    error_prefix(&error, "%*d", 5000, 1);
    CHECK_INT(strlen(error.message), sizeof(error.message) - 1);
    errno = EIO;
    error_set_system(&error, "%*d", 1020, 1);
    CHECK_INT(strlen(error.message), sizeof(error.message) - 1);
}

TEST(nobody_has_to_listen)
{
    CHECK(!error_set(NULL, ERROR_USAGE, "x"));
    CHECK(!error_set_system(NULL, "x"));
    CHECK(!error_set_memory(NULL));
    CHECK(!error_prefix(NULL, "x"));
}
