#include "python_sampler/python_returns.h"

#include <string.h>

#include "unit_test.h"

static const struct python_layout *layout_of(struct python_layout *layout, uint32_t version)
{
    struct error error = {0};
    CHECK(python_layout_of_version(layout, version, &error));
    return layout;
}

TEST(returns_of_bytecode_are_found)
{
    struct python_layout layout;
    uint32_t offsets[PYTHON_MOST_RETURNS];
    /* RESUME, LOAD_FAST, RETURN_VALUE, RETURN_CONST, half a word */
    const unsigned char bytecode[] = {151, 0, 124, 0, 83, 0, 121, 1, 83};
    CHECK(python_returns_find(layout_of(&layout, 0x030b), bytecode, sizeof(bytecode), offsets) == 1);
    CHECK(offsets[0] == 4);
    CHECK(python_returns_find(layout_of(&layout, 0x030c), bytecode, sizeof(bytecode), offsets) == 2);
    CHECK(python_returns_at(offsets, 2, 6) && python_returns_at(offsets, 2, 4));
    CHECK(!python_returns_at(offsets, 2, 2) && !python_returns_at(offsets, 2, -2) &&
          !python_returns_at(offsets, 0, 4));
}

TEST(versions_whose_frames_are_cleared_need_none)
{
    struct python_layout layout;
    uint32_t offsets[PYTHON_MOST_RETURNS];
    const unsigned char bytecode[] = {83, 0, 0, 0};
    CHECK(python_returns_find(layout_of(&layout, 0x030a), bytecode, sizeof(bytecode), offsets) == 0);
}

TEST(too_many_returns_are_none)
{
    struct python_layout layout;
    uint32_t offsets[PYTHON_MOST_RETURNS];
    unsigned char bytecode[2 * PYTHON_MOST_RETURNS + 2];
    memset(bytecode, 83, sizeof(bytecode));
    layout_of(&layout, 0x030b);
    CHECK(python_returns_find(&layout, bytecode, sizeof(bytecode) - 2, offsets) == PYTHON_MOST_RETURNS);
    CHECK(offsets[PYTHON_MOST_RETURNS - 1] == 2 * PYTHON_MOST_RETURNS - 2);
    CHECK(python_returns_find(&layout, bytecode, sizeof(bytecode), offsets) == 0);
}
