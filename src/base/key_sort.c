#include "base/key_sort.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define DIGIT_BITS 11u
#define DIGITS ((size_t)1 << DIGIT_BITS)

struct sort_item {
    uint64_t key, rest;
};
_Static_assert(sizeof(struct sort_item) == KEY_SORT_ITEM_BYTES, "items are copied whole");

static struct sort_item item_at(const char *items, size_t index)
{
    struct sort_item item;
    memcpy(&item, items + index * sizeof(item), sizeof(item));
    return item;
}

/* Checks whether they are already sorted, which is the usual case, and which bits differ. */
static bool look_over(const char *items, size_t count, uint64_t *differing)
{
    bool sorted = true;
    uint64_t before = count > 0 ? item_at(items, 0).key : 0;
    *differing = 0;
    for (size_t i = 1; i < count; i++) {
        uint64_t key = item_at(items, i).key;
        sorted &= before <= key;
        *differing |= before ^ key;
        before = key;
    }
    return sorted;
}

static void sort_by_digit(const char *from, char *to, size_t count, unsigned shift)
{
    size_t places[DIGITS] = {0}, sum = 0;
    for (size_t i = 0; i < count; i++)
        places[item_at(from, i).key >> shift & (DIGITS - 1)]++;
    for (size_t i = 0; i < DIGITS; i++) {
        size_t here = places[i];
        places[i] = sum;
        sum += here;
    }
    for (size_t i = 0; i < count; i++) {
        struct sort_item item = item_at(from, i);
        memcpy(to + places[item.key >> shift & (DIGITS - 1)]++ * sizeof(item), &item, sizeof(item));
    }
}

bool key_sort(void *items, size_t count)
{
    uint64_t differing;
    if (look_over(items, count, &differing))
        return true;
    char *spare = malloc(count * sizeof(struct sort_item)), *from = items, *to = spare;
    if (spare == NULL)
        return false;
    for (unsigned shift = 0; shift < 64; shift += DIGIT_BITS) {
        if ((differing >> shift & (DIGITS - 1)) == 0)
            continue;
        sort_by_digit(from, to, count, shift);
        char *filled = to;
        to = from;
        from = filled;
    }
    if (from == spare)
        memcpy(items, spare, count * sizeof(struct sort_item));
    free(spare);
    return true;
}
