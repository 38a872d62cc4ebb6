#include "spark/recording_name.h"

#include "unit_test.h"

TEST(a_name_tells_whose_recording_it_is)
{
    static const char *const cases[][3] = {
        {"a/exec-12.000003.jfr", "exec-12", "12"},
        {"driver.000001.jfr.gz", "driver", "driver"},
        {"app-1/exec-12/000003.jfr", "exec-12", "12"},
        {"exec-12/000001-000040.jfr.gz", "exec-12", "12"},
        {"app-1/driver/000001.jfr", "driver", "driver"},
        {"exec-12/driver.000001.jfr", "driver", "driver"},
        {"exec-12/notes.jfr", "notes", ""},
        {"2026/000003.jfr", "000003", ""},
        {"exec-1/-3.jfr", "-3", ""},
        {"profile-exec-7.jfr", "profile-exec-7", "7"},
        {"profile-driver.jfr", "profile-driver", "driver"},
        {"profile.jfr", "profile", ""},
        {"a/profile-exec-7.jfr", "profile-exec-7", "7"},
        {"profile-driver.jfr", "profile-driver", "driver"},
        {"a.b/cpu.7", "cpu", ""},
        {"12.jfr", "12", ""},
        {"", "", ""},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct text_view path = text_of(cases[i][0]);
        CHECK(text_equal(recording_base_name(path), text_of(cases[i][1])));
        CHECK(text_equal(recording_executor(path), text_of(cases[i][2])));
    }
}

TEST(a_path_tells_the_application)
{
    static const char *const cases[][2] = {
        {"out/application_1700000000000_0001/exec-1.000001.jfr", "application_1700000000000_0001"},
        {"application_1700000000000_0001_2/exec-1.jfr", "application_1700000000000_0001"},
        {"a/app-20261116073000-0001_1/1/000001.jfr", "app-20261116073000-0001"},
        {"local-1700000000000.jfr", "local-1700000000000"},
        {"spark-application-1700000000000/x", "spark-application-1700000000000"},
        {"spark-0123456789abcdef0123456789abcdef/driver.jfr", "spark-0123456789abcdef0123456789abcdef"},
        {"application_/app-1-1/local-12/spark-abc/x.jfr", ""},
        {"application_1700000000000/app-20261116073000/x.jfr", ""},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        CHECK(text_equal(recording_application(text_of(cases[i][0])), text_of(cases[i][1])));
}
