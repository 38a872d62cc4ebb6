#include "collector/group_settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "unit_test.h"

#define DAY_MS (24 * 3600 * 1000LL)
#define MIB ((uint64_t)1 << 20)

static char path[64];
static const struct group_limits defaults = {.max_age_ms = 14 * DAY_MS, .bytes = 100 * MIB};

static void write_settings(const char *text)
{
    snprintf(path, sizeof(path), "/tmp/group_settings_test_%d", (int)getpid());
    FILE *file = fopen(path, "we");
    CHECK(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
}

static struct group_settings *open_settings(const char *text)
{
    struct error error = {0};
    write_settings(text);
    struct group_settings *settings = group_settings_open(path, &defaults, &error);
    CHECK_TEXT(error.message, "");
    CHECK(settings != NULL);
    return settings;
}

static void check_limits(struct group_settings *settings, const char *group, int64_t days, uint64_t mib,
                         uint64_t rate_mib)
{
    struct group_limits limits;
    group_settings_find(settings, group, &limits);
    CHECK_INT(limits.max_age_ms, days * DAY_MS);
    CHECK_INT(limits.bytes, mib * MIB);
    CHECK_INT(limits.bytes_per_minute, rate_mib * MIB);
}

TEST(groups_have_limits_of_their_own)
{
    struct group_settings *settings = open_settings(
        "# comment\n\n etl  keep-days=30  keep-mib=0\n* mib-per-minute=7 keep-days=3\nb mib-per-minute=0\n");
    check_limits(settings, "etl", 30, 0, 7);
    check_limits(settings, "b", 3, 100, 0);
    check_limits(settings, "other", 3, 100, 7);
    group_settings_close(settings);
    unlink(path);
}

TEST(a_file_may_come_change_be_wrong_and_go)
{
    struct error error = {0};
    struct group_settings *settings = open_settings("");
    unlink(path);
    CHECK_OK(error, group_settings_refresh(settings, &error));
    check_limits(settings, "a", 14, 100, 0);
    write_settings("a keep-days=1\n");
    CHECK_OK(error, group_settings_refresh(settings, &error));
    check_limits(settings, "a", 1, 100, 0);
    write_settings("a keep-days=1 keep-weeks=7\n");
    CHECK(!group_settings_refresh(settings, &error) && error.message[0] != '\0');
    CHECK_OK(error, group_settings_refresh(settings, &error)); /* reported once */
    check_limits(settings, "a", 1, 100, 0);
    unlink(path);
    CHECK_OK(error, group_settings_refresh(settings, &error));
    check_limits(settings, "a", 14, 100, 0);
    group_settings_close(settings);
}

TEST(wrong_files_are_refused)
{
    static const char *const texts[] = {"a",
                                        "a b",
                                        "a keep-days=",
                                        "a keep-days=-1",
                                        "a keep-days=1d",
                                        "a keep-mib=1073741825",
                                        "a/b keep-days=1",
                                        "a keep-days=1\na keep-mib=1",
                                        ".. keep-days=1"};
    for (size_t i = 1; i < COUNT_OF(texts); i++) {
        struct error error = {0};
        write_settings(texts[i]);
        CHECK(group_settings_open(path, &defaults, &error) == NULL && error.message[0] != '\0');
    }
    group_settings_close(open_settings(texts[0]));
    unlink(path);
}

TEST(who_sends_too_much_waits)
{
    struct group_settings *settings = open_settings("a mib-per-minute=6\n");
    uint64_t wait_s = 0;
    CHECK(group_settings_admit(settings, "a", 1000, &wait_s));
    group_settings_charge(settings, "a", 5 * MIB, 1000);
    CHECK(group_settings_admit(settings, "a", 1000, &wait_s));
    group_settings_charge(settings, "a", 2 * MIB, 1000);
    CHECK(!group_settings_admit(settings, "a", 1000, &wait_s));
    CHECK_INT(wait_s, 11);
    CHECK(!group_settings_admit(settings, "a", 10000, &wait_s));
    CHECK(group_settings_admit(settings, "a", 12000, &wait_s));
    /* Others do not wait; nothing is saved up beyond a minute. */
    CHECK(group_settings_admit(settings, "b", 1000, &wait_s));
    group_settings_charge(settings, "b", 1000 * MIB, 1000);
    CHECK(group_settings_admit(settings, "b", 1000, &wait_s));
    group_settings_charge(settings, "a", 7 * MIB, 999000);
    CHECK(!group_settings_admit(settings, "a", 999000, &wait_s));
    group_settings_close(settings);
    unlink(path);
}
