#include "python_sampler/python_returns.h"

#define UNIT_BYTES 2

size_t python_returns_find(const struct python_layout *layout, const unsigned char *bytecode, size_t size,
                           uint32_t offsets[PYTHON_MOST_RETURNS])
{
    const uint8_t *returns = layout->code.returns;
    size_t count = 0;
    for (size_t at = 0; returns[0] != 0 && at + UNIT_BYTES <= size; at += UNIT_BYTES) {
        if (bytecode[at] != returns[0] && bytecode[at] != returns[1])
            continue;
        if (count == PYTHON_MOST_RETURNS)
            return 0;
        offsets[count++] = (uint32_t)at;
    }
    return count;
}

bool python_returns_at(const uint32_t *offsets, size_t count, int64_t offset)
{
    for (size_t i = 0; i < count; i++) {
        if (offsets[i] == offset)
            return true;
    }
    return false;
}
