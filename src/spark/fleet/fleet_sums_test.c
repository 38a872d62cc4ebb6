#include "spark/fleet/fleet_sums.h"

#include <string.h>

#include "base/attributes.h"
#include "failing_memory.h"
#include "folded_profile.h"
#include "spark/fleet/fleet_report.h"
#include "unit_test.h"

#define DAY "86400000000000"

static struct fleet_options usual = {.interval_ns = {[FLEET_CPU] = 10000000, [FLEET_WALL] = 100000000},
                                     .since = FLEET_NO_DAY,
                                     .until = FLEET_NO_DAY};

struct fleet_part {
    const char *group, *application; /* of the path */
    const char *text;
};

static const struct fleet_part parts[] = {
    {"etl", "app-1", "@" DAY ":main;a 3\n@" DAY ":main;a;b 1\nwall/@" DAY ":main;wait 2\n"},
    {"etl", "app-1", "@0:main;a;main;a 5\nalloc/@0:main;byte[] 4096\nother/@0:main 7\n"},
    {"etl", "app-2", "@" DAY ":main;b 2\n"},
    {"", "", "application=app-3/@" DAY ":main;c 1\napplication=app-4/@0:main;c 4\nmain;b 8\n"},
    {"", "", "profiling_group=late/@" DAY ":main;b 1\n"},
    {"web", "app-5", "executor=1/@0:main;b 1\nexecutor=2/@0:main;b 1\nexecutor=1/@" DAY ":main 1\n"},
};

static bool add_part(struct fleet_sums *sums, const struct fleet_part *part, struct error *error)
{
    struct profile profile;
    struct fleet_place place = {text_of(part->group), text_of(part->application), TEXT("")};
    if (!profile_init(&profile, true, error))
        return false;
    profile.times_are_absolute = true;
    bool good = folded_profile_add(&profile, part->text) && fleet_sums_add(sums, &profile, &place, error);
    profile_release(&profile);
    return good;
}

static void start(struct fleet_sums *sums, const struct fleet_options *options)
{
    struct error error = {0};
    CHECK_OK(error, fleet_sums_init(sums, options, &error));
}

/* The sums as JSON; lives until the test ends. Releases them. */
static const char *finish(struct fleet_sums *sums)
{
    static struct text_builder text;
    struct fleet_report report;
    struct output output;
    struct error error = {0};
    CHECK_OK(error, fleet_sums_finish(sums, &error));
    CHECK_OK(error, fleet_report_init(&report, sums, 1, 100, &error));
    text_builder_release(&text);
    text_builder_init(&text, (size_t)1 << 20);
    CHECK_OK(error, output_open_memory(&output, &text, &error));
    fleet_report_write_json(&report, &output);
    CHECK_OK(error, output_finish(&output, &error));
    output_release(&output);
    fleet_report_release(&report);
    fleet_sums_release(sums);
    return text_builder_c_string(&text);
}

static bool is_same_application(const struct fleet_part *left, const struct fleet_part *right)
{
    return left->application[0] != '\0' && strcmp(left->application, right->application) == 0;
}

/* All parts, in an order, as a single thread does it. */
static const char *add_all(const struct fleet_options *options, const size_t *order)
{
    struct fleet_sums sums;
    struct error error = {0};
    start(&sums, options);
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        const struct fleet_part *part = &parts[order[i]];
        CHECK_OK(error, add_part(&sums, part, &error));
        if (i + 1 == COUNT_OF(parts) || !is_same_application(part, &parts[order[i + 1]]))
            CHECK_OK(error, fleet_sums_close(&sums, &error));
    }
    return finish(&sums);
}

static const size_t forward[] = {0, 1, 2, 3, 4, 5}, backward[] = {5, 4, 3, 2, 1, 0};

static void check_has(const char *json, const char *part)
{
    if (strstr(json, part) == NULL)
        unit_test_fail(__FILE__, __LINE__, "%s is not in %s", part, json);
}

TEST(groups_days_methods_and_applications_are_summed_up)
{
    const char *json = add_all(&usual, forward);
    check_has(json, "{\"cpu_ns\":280000000,\"wall_ns\":200000000,\"alloc_bytes\":4096,");
    check_has(json, "\"application_count\":7,\"executor_count\":2,");
    check_has(json, "{\"day\":\"1970-01-01\",\"cpu_ns\":110000000,\"wall_ns\":0,\"alloc_bytes\":4096}");
    check_has(json, "{\"group\":\"default\",\"cpu_ns\":130000000,");
    check_has(json, "{\"group\":\"etl\",\"cpu_ns\":110000000,\"wall_ns\":200000000,\"alloc_bytes\":4096,"
                    "\"cost\":0.000031,"
                    "\"applications\":2,\"executors\":0,\"runs_before\":0,\"runs_now\":3,\"by_day\":["
                    "50000000,60000000],");
    check_has(json, "{\"group\":\"late\",\"cpu_ns\":10000000,");
    check_has(json, "\"applications\":1,\"executors\":2,");
    /* A method that calls itself counts once, and what has no time only in the sums. */
    check_has(json, "{\"event\":\"cpu\",\"method\":\"a\",\"self\":80000000,\"total\":90000000,\"by_day\":["
                    "50000000,30000000],");
    check_has(json, "{\"event\":\"cpu\",\"method\":\"b\",\"self\":140000000,\"total\":140000000,\"by_day\":["
                    "20000000,40000000],");
    check_has(json, "{\"event\":\"cpu\",\"method\":\"main\",\"self\":10000000,\"total\":280000000,");
    check_has(json,
              "{\"event\":\"alloc\",\"method\":\"byte[]\",\"self\":4096,\"total\":4096,\"by_day\":[4096,0],");
    check_has(
        json,
        "{\"application\":\"app-5\",\"group\":\"web\",\"cpu_ns\":30000000,\"wall_ns\":0,\"alloc_bytes\":0,"
        "\"cost\":0.000008,\"executors\":2,\"first_day\":\"1970-01-01\",\"last_day\":\"1970-01-02\",");
    check_has(json, "{\"application\":null,\"group\":\"default\",");
    CHECK(strstr(json, "\"other\"") == NULL);
}

TEST(the_order_and_the_number_of_sums_do_not_matter)
{
    char first[16000];
    struct fleet_sums sums[3];
    struct error error = {0};
    const char *json = add_all(&usual, forward);
    CHECK(strlen(json) < sizeof(first));
    memcpy(first, json, strlen(json) + 1);
    CHECK_TEXT(add_all(&usual, backward), first);
    for (size_t i = 0; i < COUNT_OF(sums); i++)
        start(&sums[i], &usual);
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        struct fleet_sums *into = &sums[i < 2 ? 1 : i % 3];
        CHECK_OK(error, add_part(into, &parts[i], &error));
        if (i != 0)
            CHECK_OK(error, fleet_sums_close(into, &error));
    }
    for (size_t i = 1; i < COUNT_OF(sums); i++) {
        CHECK_OK(error, fleet_sums_join(&sums[0], &sums[i], &error));
        fleet_sums_release(&sums[i]);
    }
    CHECK_TEXT(finish(&sums[0]), first);
}

TEST(days_and_groups_are_selected)
{
    static const char *const groups[] = {"etl", "late"};
    struct fleet_options options = usual;
    options.since = options.until = 1;
    check_has(add_all(&options, forward), "{\"cpu_ns\":90000000,\"wall_ns\":200000000,\"alloc_bytes\":0,");
    options = usual;
    options.groups = groups;
    options.group_count = 2;
    check_has(add_all(&options, forward),
              "{\"cpu_ns\":120000000,\"wall_ns\":200000000,\"alloc_bytes\":4096,");
}

TEST(exact_weights_and_huge_ones)
{
    struct profile profile;
    struct fleet_sums sums;
    struct error error = {0};
    struct fleet_place place = {TEXT(""), TEXT("app-1"), TEXT("")};
    folded_profile_init(&profile, "@0:a 1\n@0:b 1e300\nwall/@0:c 1e300\nalloc/@0:d 1e300\n");
    profile.times_are_absolute = true;
    start(&sums, &usual);
    CHECK_OK(error, fleet_sums_add(&sums, &profile, &place, &error));
    CHECK_OK(error, fleet_sums_add(&sums, &profile, &place, &error));
    CHECK_OK(error, fleet_sums_close(&sums, &error));
    profile_release(&profile);
    check_has(finish(&sums), "{\"event\":\"cpu\",\"method\":\"a\",\"self\":20000000,\"total\":20000000,");
}

TEST(out_of_memory_is_an_error)
{
    FAIL_EACH_ALLOCATION
    {
        struct fleet_sums sums[2] = {{.options = NULL}, {.options = NULL}};
        struct fleet_report report = {.sums = NULL};
        struct error error = {0};
        bool good = fleet_sums_init(&sums[0], &usual, &error) && fleet_sums_init(&sums[1], &usual, &error);
        for (size_t i = 0; good && i < COUNT_OF(parts); i++)
            good = add_part(&sums[i % 2], &parts[i], &error) && fleet_sums_close(&sums[i % 2], &error);
        good = good && fleet_sums_join(&sums[0], &sums[1], &error) && fleet_sums_finish(&sums[0], &error) &&
               fleet_report_init(&report, &sums[0], 1, 100, &error);
        CHECK(good || failing_memory_failed());
        fleet_report_release(&report);
        fleet_sums_release(&sums[0]);
        fleet_sums_release(&sums[1]);
    }
}
