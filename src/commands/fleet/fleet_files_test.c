#include "commands/fleet/fleet_files.h"

#include "base/attributes.h"
#include "unit_test.h"

TEST(a_path_names_group_application_and_executor)
{
    static const struct {
        const char *path;
        size_t below; /* size of the folder that was given, and its slash */
        const char *group, *application, *executor;
    } cases[] = {
        {"in/etl/app-20261101073000-0001/exec-7/000001.jfr", 3, "etl", "app-20261101073000-0001", "7"},
        {"in/app-20261101073000-0001_2/driver/000001.jfr", 3, "", "app-20261101073000-0001", "driver"},
        {"in/a/b/application_1700000000000_0001/exec-1.000001.jfr", 3, "b", "application_1700000000000_0001",
         "1"},
        {"etl/app-20261101073000-0001/exec-7/000001.jfr", 4, "", "app-20261101073000-0001", "7"},
        {"in/etl/own-name/exec-7/000001.jfr", 3, "", "", "7"},
        {"all.part", 8, "", "", ""},
        {"", 0, "", "", ""},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct fleet_place place = fleet_place_of(text_of(cases[i].path), cases[i].below);
        CHECK(text_equal(place.group, text_of(cases[i].group)));
        CHECK(text_equal(place.application, text_of(cases[i].application)));
        CHECK(text_equal(place.executor, text_of(cases[i].executor)));
    }
}
