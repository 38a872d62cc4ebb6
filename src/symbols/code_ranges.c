#include "symbols/code_ranges.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void code_ranges_release(struct code_ranges *ranges)
{
    free(ranges->all);
    *ranges = (struct code_ranges){.all = NULL};
}

/* What is left of the ranges without those of the hole; `to` has room for one more, as one range may become two. */
static size_t cut_out(struct code_range *to, const struct code_ranges *ranges, const struct code_range *hole)
{
    size_t kept = 0;
    for (size_t i = 0; i < ranges->count; i++) {
        struct code_range before = ranges->all[i], after = ranges->all[i];
        if (before.end > hole->start)
            before.end = hole->start;
        if (after.start < hole->end) {
            after.offset += hole->end - after.start;
            after.start = hole->end;
        }
        if (before.start < before.end)
            to[kept++] = before;
        if (after.start < after.end)
            to[kept++] = after;
    }
    return kept;
}

/* Whether the same bytes were there before, or nothing. */
static bool is_same_code(const struct code_ranges *ranges, const struct code_range *range)
{
    for (size_t i = 0; i < ranges->count; i++) {
        const struct code_range *old = &ranges->all[i];
        if (old->end <= range->start || old->start >= range->end)
            continue;
        bool is_moved = old->start - old->offset != range->start - range->offset;
        if (old->file != range->file || (old->file != NO_FILE && is_moved))
            return false;
    }
    return true;
}

static bool is_there(const struct code_ranges *ranges, const struct code_range *range)
{
    const struct code_range *old = code_ranges_find(ranges, range->start);
    return old != NULL && old->start == range->start && old->end == range->end &&
           old->offset == range->offset && old->file == range->file;
}

/* /proc/PID/maps comes in order. */
static bool append(struct code_ranges *ranges, const struct code_range *range)
{
    if (!array_reserve(&ranges->all, &ranges->capacity, ranges->count + 1, CODE_RANGES_LIMIT))
        return false;
    ranges->all[ranges->count++] = *range;
    return true;
}

bool code_ranges_insert(struct code_ranges *ranges, const struct code_range *range, bool *changed)
{
    size_t room = ranges->count + 2, place = 0;
    if (range->start >= range->end || is_there(ranges, range) || room > CODE_RANGES_LIMIT)
        return true;
    if (ranges->count == 0 || ranges->all[ranges->count - 1].end <= range->start)
        return append(ranges, range);
    struct code_range *all = malloc(room * sizeof(*all));
    if (all == NULL)
        return false;
    if (!is_same_code(ranges, range))
        *changed = true;
    size_t count = cut_out(all, ranges, range);
    while (place < count && all[place].start < range->start)
        place++;
    memmove(all + place + 1, all + place, (count - place) * sizeof(*all));
    all[place] = *range;
    free(ranges->all);
    *ranges = (struct code_ranges){.all = all, .count = count + 1, .capacity = room};
    return true;
}

bool code_ranges_copy(struct code_ranges *ranges, const struct code_ranges *from)
{
    if (!array_reserve(&ranges->all, &ranges->capacity, from->count, CODE_RANGES_LIMIT))
        return false;
    if (from->count > 0)
        memcpy(ranges->all, from->all, from->count * sizeof(*ranges->all));
    ranges->count = from->count;
    return true;
}

const struct code_range *code_ranges_find(const struct code_ranges *ranges, uint64_t address)
{
    size_t low = 0, high = ranges->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ranges->all[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < ranges->count && address >= ranges->all[low].start ? &ranges->all[low] : NULL;
}
