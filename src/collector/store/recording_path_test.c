#include "collector/store/recording_path.h"

#include "unit_test.h"

TEST(names_of_the_plugin)
{
    static const struct {
        const char *path, *application, *executor;
        uint64_t sequence;
    } cases[] = {
        {"p/etl/app-1/7/000002.jfr", "app-1", "7", 2},  {"app-1/driver/12.jfr.gz", "app-1", "driver", 12},
        {"p/app-1/exec-7.000002.jfr", "app-1", "7", 2}, {"app-1/driver.000001.jfr.gz", "app-1", "driver", 1},
        {"app-1/exec-7.jfr", "app-1", "7", 0},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct stored_recording recording = {.sequence = UINT64_MAX};
        struct error error = {0};
        CHECK_OK(error, recording_read_path(&recording, text_of(cases[i].path), &error));
        CHECK_TEXT(recording.application, cases[i].application);
        CHECK_TEXT(recording.executor, cases[i].executor);
        CHECK_INT(recording.sequence, cases[i].sequence);
    }
}

TEST(what_is_given_is_not_looked_for)
{
    struct stored_recording recording = {.application = "a", .executor = "b", .sequence = 9};
    struct error error = {0};
    CHECK_OK(error, recording_read_path(&recording, TEXT("x.jfr"), &error));
    CHECK_OK(error, recording_read_path(&recording, TEXT("app-1/7/000002.jfr"), &error));
    CHECK_TEXT(recording.application, "a");
    CHECK_TEXT(recording.executor, "b");
    CHECK_INT(recording.sequence, 9);
}

TEST(paths_that_name_nothing)
{
    static const char *const paths[] = {"",           "x.jfr",       "/x.jfr", "exec-7.000001.jfr",
                                        "../7/1.jfr", "a b/7/1.jfr", "7/1.jfr"};
    for (size_t i = 0; i < COUNT_OF(paths); i++) {
        struct stored_recording recording = {.sequence = UINT64_MAX};
        struct error error = {0};
        CHECK(!recording_read_path(&recording, text_of(paths[i]), &error));
        CHECK(error.message[0] != '\0');
    }
}
