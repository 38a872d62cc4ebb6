#include "spark/log/log_zone.h"

#include "unit_test.h"

static bool parses(const char *text, int64_t *ahead_ms)
{
    struct log_zone zone;
    struct error error = {0};
    bool good = log_zone_parse(&zone, text, &error);
    CHECK(good || error.code == ERROR_USAGE);
    *ahead_ms = good ? -log_zone_to_utc(&zone, 0) : 0;
    return good;
}

TEST(offsets_of_more_than_18_hours_are_refused)
{
    int64_t ahead_ms;
    CHECK(parses("+02:00", &ahead_ms));
    CHECK_INT(ahead_ms, 2 * 3600000);
    CHECK(parses("-18:00", &ahead_ms));
    CHECK_INT(ahead_ms, -18 * 3600000);
    CHECK(!parses("+18:01", &ahead_ms));
    CHECK(!parses("+82:00", &ahead_ms));
    CHECK(!parses("../../etc/passwd", &ahead_ms));
}
