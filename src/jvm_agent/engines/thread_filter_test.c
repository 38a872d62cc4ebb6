#include "jvm_agent/engines/thread_filter.h"

#include <stddef.h>

#include "unit_test.h"

TEST(takes_ids_and_ranges)
{
    struct error error = {0};
    CHECK_OK(error, thread_filter_set("120-127;132;134", &error));
    CHECK(thread_filter_accepts(120) && thread_filter_accepts(127) && thread_filter_accepts(134));
    CHECK(!thread_filter_accepts(119) && !thread_filter_accepts(128) && !thread_filter_accepts(133));
    CHECK_OK(error, thread_filter_set("", &error));
    CHECK(!thread_filter_accepts(120));
    CHECK_OK(error, thread_filter_set(NULL, &error));
    CHECK(thread_filter_accepts(119));
}

TEST(refuses_what_is_no_id)
{
    static const char *const bad[] = {"main", "0", "-5", "7-", "9-8", "3000000000", "1;x", "1;;2"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct error error = {0};
        CHECK(!thread_filter_set(bad[i], &error));
        CHECK_INT(error.code, ERROR_USAGE);
    }
}
