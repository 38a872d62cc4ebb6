#include "spark/log/log_pattern.h"

#include "unit_test.h"

static struct error error;
static struct log_pattern pattern;
static struct log_head head;

static bool match(const char *layout, const char *line)
{
    CHECK_OK(error, log_pattern_parse(&pattern, layout, &error));
    return log_pattern_match(&pattern, text_of(line), &head);
}

#define IS(part, literal) CHECK(text_equal(part, TEXT(literal)))

TEST(layouts_of_log4j)
{
    CHECK(
        match("%d{yy/MM/dd HH:mm:ss} %p %c{1}: %m%n%ex", "19/02/17 10:52:36 INFO SparkContext: Running: it"));
    CHECK_INT(head.time_ms, INT64_C(1550400756000));
    CHECK_INT(head.level, LOG_LEVEL_INFO);
    IS(head.logger, "SparkContext");
    IS(head.message, "Running: it");
    CHECK(match("%-5level | %date{DATE}{UTC} | %20.-30thread | %X{id} | %msg%n",
                "WARN  | 17 Feb 2019 10:52:36,250 |        main worker 1 | x y | a | b"));
    CHECK_INT(head.time_ms, INT64_C(1550400756250));
    CHECK_INT(head.level, LOG_LEVEL_WARN);
    IS(head.thread, "main worker 1");
    IS(head.message, "a | b");
    CHECK(match("<%p{length=1}> %d{UNIX_MILLIS} %c{2}[%L] - %m", "<E> 1550400756001 a.B[12] - no"));
    CHECK_INT(head.time_ms, INT64_C(1550400756001));
    CHECK_INT(head.level, LOG_LEVEL_ERROR);
    IS(head.logger, "a.B");
}

TEST(zones_and_halves_of_days)
{
    CHECK(match("%d{yyyy-MM-dd hh:mm:ss a z} %p %m", "2019-02-17 10:52:36 PM CET INFO x"));
    CHECK(head.has_zone);
    CHECK_INT(head.time_ms, INT64_C(1550400756000) + 11 * 3600000);
    CHECK(match("%d{yyyyMMdd'T'HHmmssSSSXXX} %p %m", "20190217T105236500-01:00 INFO x"));
    CHECK_INT(head.time_ms, INT64_C(1550400756500) + 3600000);
}

TEST(other_lines)
{
    CHECK(!match("%d %p %m", "2019-02-17 10:52:36 INFO x"));
    CHECK(!match("%d %p %m", "2019-02-17 10:52:36,000 LOUD x"));
    CHECK(!match("%d [%t] %p %m", "2019-02-17 10:52:36,000 [main INFO x"));
    CHECK(!match("%d{yyyy-MM-dd HH} %p %m", "2019-13-17 10 INFO x"));
    CHECK(!match("%d %p %m", ""));
}

TEST(patterns_that_cannot_work)
{
    static const char *const layouts[] = {
        "", "%m", "%d %m", "%p %m %d", "%d{HH:mm:ss} %p %m", "%d %p %m %", "%d{yyyy %p %m"};
    for (size_t i = 0; i < sizeof(layouts) / sizeof(*layouts); i++)
        CHECK(!log_pattern_parse(&pattern, layouts[i], &error));
}
