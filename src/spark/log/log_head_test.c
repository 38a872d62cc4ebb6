#include "spark/log/log_head.h"

#include <stdlib.h>

#include "base/text_builder.h"
#include "spark/log/log_match.h"
#include "spark/log/log_template.h"
#include "unit_test.h"

static const char *copy(struct text_view text)
{
    static char room[4][200];
    static int next;
    char *to = room[next++ % 4];
    size_t size = text.size < 199 ? text.size : 199;
    memcpy(to, text.data, size);
    to[size] = '\0';
    return to;
}

TEST(takes_a_head_apart)
{
    struct log_head head;
    CHECK(log_head_parse(TEXT("19/02/17 10:52:36 WARN  Utils:62 - Set SPARK_LOCAL_IP"), &head));
    CHECK_INT(head.level, LOG_LEVEL_WARN);
    CHECK_INT(head.time_ms, INT64_C(1550400756000));
    CHECK_TEXT(copy(head.logger), "Utils");
    CHECK_TEXT(copy(head.message), "Set SPARK_LOCAL_IP");
    CHECK(log_head_parse(TEXT("2019-02-17 10:52:36,5 ERROR [a [b] c] x.y.Z: no - dash"), &head));
    CHECK_INT(head.time_ms, INT64_C(1550400756500));
    CHECK_TEXT(copy(head.thread), "a [b] c");
    CHECK_TEXT(copy(head.logger), "x.y.Z");
    CHECK_TEXT(copy(head.message), "no - dash");
}

TEST(other_lines_have_no_head)
{
    static const char *const lines[] = {
        "",
        "19/02/17",
        "19/13/17 10:52:36 INFO A: b",
        "19/02/17 25:52:36 INFO A: b",
        "19/02-17 10:52:36 INFO A: b",
        "2019-02-17T10:52:36.424",
        "1550400754513 com.uber.profiling.Arguments: Got",
        "\tat a.B.c(B.java:7)",
    };
    struct log_head head;
    for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
        CHECK(!log_head_parse(text_of(lines[i]), &head));
}

TEST(zones_have_names)
{
    struct log_head head;
    CHECK(log_head_parse(TEXT("2019-02-17 10:52:36 CEST INFO A: b"), &head));
    CHECK(head.has_zone);
    CHECK_INT(head.time_ms, INT64_C(1550400756000) - 2 * 3600000);
    CHECK(log_head_parse(TEXT("2019-02-17T10:52:36.1-05:00[America/New_York] INFO A: b"), &head));
    CHECK_INT(head.time_ms, INT64_C(1550400756100) + 5 * 3600000);
    CHECK(log_head_parse(TEXT("2019-02-17 10:52:36 INFO A: b"), &head));
    CHECK(!head.has_zone);
}

TEST(knows_leap_days_and_zones)
{
    bool has_zone;
    int64_t ms;
    struct text_view text = TEXT("2024-02-29 00:00:00-05:30 rest");
    CHECK(log_time_cut(&text, &ms, &has_zone));
    CHECK(has_zone);
    CHECK_INT(ms, INT64_C(1709164800000) + (5 * 60 + 30) * 60000);
    CHECK_TEXT(copy(text), " rest");
}

TEST(masks_what_varies)
{
    static const char *const pairs[][2] = {
        {"Running task 3.0 in stage 7.0 (TID 41)", "Running task # in stage # (TID #)"},
        {"id 123e4567-e89b-12d3-a456-426614174000!", "id #!"},
        {"at 10.0.0.1:4040 in 12,345 ms", "at #:# in # ms"},
        {"object 0x7f00 and 3c0a50da", "object # and #"},
        {"word1 add deface", "word# add deface"},
    };
    struct text_builder text;
    text_builder_init(&text, 1000);
    for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
        text_builder_clear(&text);
        log_template_add(&text, text_of(pairs[i][0]));
        CHECK_TEXT(text_builder_c_string(&text), pairs[i][1]);
    }
    text_builder_release(&text);
}

TEST(matches_messages)
{
    struct log_match match;
    CHECK(log_match(TEXT("Lost executor 3 on node: killed"), "Lost executor * on *: ", &match));
    CHECK_TEXT(copy(match.texts[0]), "3");
    CHECK_TEXT(copy(match.texts[1]), "node");
    CHECK_TEXT(copy(match.rest), "killed");
    CHECK(log_match(TEXT("task 12.3 (TID 99999999999)"), "task #.# (TID #", &match));
    CHECK_INT(match.numbers[2], INT64_C(99999999999));
    CHECK(!log_match(TEXT("task 12 (TID 9)"), "task #.# (TID #", &match));
    CHECK(!log_match(TEXT("task 99999999999999999999.1 "), "task #.# ", &match));
}
