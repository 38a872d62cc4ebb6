#include "native_sampler/namespace_filter.h"

#include <string.h>
#include <unistd.h>

#include "unit_test.h"

TEST(the_first_namespace_needs_no_filter)
{
    char link[64] = "";
    CHECK(readlink("/proc/self/ns/pid", link, sizeof(link) - 1) > 0);
    CHECK_INT(namespace_is_first(), strcmp(link, "pid:[4026531836]") == 0);
    if (namespace_is_first())
        CHECK_INT(namespace_filter_open(), -1);
}
