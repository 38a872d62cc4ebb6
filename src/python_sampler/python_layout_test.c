#include "python_sampler/python_layout.h"

#include <string.h>

#include "unit_test.h"

static void put(unsigned char *runtime, size_t word, uint64_t value)
{
    memcpy(runtime + 8 * word, &value, 8);
}

TEST(tables_serve_3_8_to_3_12)
{
    struct error error = {ERROR_NONE, ""};
    struct python_layout layout;
    for (uint32_t version = 0x0308; version <= 0x030c; version++) {
        CHECK_OK(error, python_layout_of_version(&layout, version, &error));
        CHECK_INT(layout.version, version);
        CHECK(layout.frame.previous + 8 <= layout.frame.bytes);
        CHECK(layout.frame.code + 8 <= layout.frame.bytes);
        CHECK(layout.thread.thread_id + 8 <= layout.thread.bytes);
        CHECK(layout.code.line_table + 8 <= layout.code.bytes);
    }
}

TEST(other_versions_are_named)
{
    struct error error = {ERROR_NONE, ""};
    struct python_layout layout;
    CHECK(!python_layout_of_version(&layout, 0x0306, &error));
    CHECK_TEXT(error.message, "Python 3.6 is not supported (3.8 to 3.15 are)");
}

TEST(descriptions_of_unknown_versions_are_refused)
{
    unsigned char runtime[PYTHON_DEBUG_OFFSETS_BYTES] = "xdebugpy";
    struct error error = {ERROR_NONE, ""};
    struct python_layout layout;
    CHECK(python_layout_has_debug_offsets(runtime));
    put(runtime, 1, 0x031000f0);
    CHECK(!python_layout_from_runtime(&layout, runtime, &error));
    CHECK_TEXT(error.message, "Python 3.16 is not supported (3.8 to 3.15 are)");
    put(runtime, 1, 0x030f00b4);
    CHECK(!python_layout_from_runtime(&layout, runtime, &error));
    CHECK_TEXT(error.message, "Python 3.15 is a pre-release, which is not supported");
}

TEST(impossible_offsets_are_refused)
{
    unsigned char runtime[PYTHON_DEBUG_OFFSETS_BYTES];
    struct error error = {ERROR_NONE, ""};
    struct python_layout layout;
    memset(runtime, 0x77, sizeof(runtime));
    memcpy(runtime, "xdebugpy", 8);
    put(runtime, 1, 0x030d05f0);
    CHECK(!python_layout_from_runtime(&layout, runtime, &error));
    CHECK_TEXT(error.message, "Python 3.13 describes itself with impossible offsets");
}
