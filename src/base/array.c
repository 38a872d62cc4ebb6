#include "base/array.h"

#include <stdint.h>
#include <stdlib.h>

bool array_grow(void **items, size_t *capacity, size_t needed, size_t limit, size_t item_bytes)
{
    if (needed > limit)
        return false;
    size_t room = *capacity + *capacity / 2;
    if (room < 16)
        room = 16;
    if (room < needed)
        room = needed;
    if (room > limit)
        room = limit;
    if (room > SIZE_MAX / item_bytes)
        return false;
    void *grown = realloc(*items, room * item_bytes);
    if (grown == NULL)
        return false;
    *items = grown;
    *capacity = room;
    return true;
}
