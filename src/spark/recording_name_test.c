#include "spark/recording_name.h"

#include "unit_test.h"

TEST(a_name_tells_whose_recording_it_is)
{
    static const char *const cases[][3] = {
        {"a/exec-12.000003.jfr", "exec-12", "12"},
        {"driver.000001.jfr.gz", "driver", "driver"},
        {"profile.jfr", "profile", ""},
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
