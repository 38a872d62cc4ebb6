#include "python_sampler/span_set.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define BRIDGED_GAP_BYTES 2048

void span_set_init(struct span_set *set)
{
    *set = (struct span_set){.spans = NULL};
}

void span_set_release(struct span_set *set)
{
    free(set->spans);
    span_set_init(set);
}

void span_set_clear(struct span_set *set)
{
    set->count = 0;
    set->total_bytes = set->plain_bytes = 0;
}

static void number_spans(struct span_set *set)
{
    size_t offset = 0;
    for (int lesser = 0; lesser <= 1; lesser++) {
        for (size_t i = 0; i < set->count; i++) {
            if (set->spans[i].is_lesser != (lesser == 1))
                continue;
            set->spans[i].offset = offset;
            offset += set->spans[i].end - set->spans[i].start;
        }
        if (lesser == 0)
            set->plain_bytes = offset;
    }
    set->total_bytes = offset;
}

/* The number of spans that end before `address`. */
static size_t count_before(const struct span_set *set, uint64_t address)
{
    size_t low = 0, high = set->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (set->spans[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_near(uint64_t end, uint64_t start)
{
    return end >= start || start - end <= BRIDGED_GAP_BYTES;
}

static bool add(struct span_set *set, uint64_t address, size_t size, uint32_t now, bool is_lesser)
{
    uint64_t end = address + size;
    if (end < address)
        return false;
    size_t first = count_before(set, address);
    if (first > 0 && is_near(set->spans[first - 1].end, address))
        first--;
    size_t last = first;
    struct span added = {.start = address, .end = end, .last_used = now, .is_lesser = is_lesser};
    for (; last < set->count && is_near(added.end, set->spans[last].start); last++) {
        if (set->spans[last].start < added.start)
            added.start = set->spans[last].start;
        if (set->spans[last].end > added.end)
            added.end = set->spans[last].end;
        added.is_lesser = added.is_lesser && set->spans[last].is_lesser;
    }
    if (last == first) {
        if (!array_reserve(&set->spans, &set->capacity, set->count + 1, SPAN_SET_MOST_SPANS))
            return false;
        memmove(&set->spans[first + 1], &set->spans[first], (set->count - first) * sizeof(*set->spans));
        set->count++;
    } else {
        memmove(&set->spans[first + 1], &set->spans[last], (set->count - last) * sizeof(*set->spans));
        set->count -= last - first - 1;
    }
    set->spans[first] = added;
    number_spans(set);
    return set->total_bytes <= SPAN_SET_MOST_BYTES;
}

bool span_set_add(struct span_set *set, uint64_t address, size_t size, uint32_t now)
{
    return add(set, address, size, now, false);
}

bool span_set_add_lesser(struct span_set *set, uint64_t address, size_t size, uint32_t now)
{
    return add(set, address, size, now, true);
}

void span_set_expire(struct span_set *set, uint32_t oldest)
{
    size_t kept = 0;
    for (size_t i = 0; i < set->count; i++) {
        if ((int32_t)(set->spans[i].last_used - oldest) >= 0)
            set->spans[kept++] = set->spans[i];
    }
    set->count = kept;
    number_spans(set);
}

void span_set_drop_lesser(struct span_set *set, uint64_t address, size_t most_bytes)
{
    size_t at = count_before(set, address);
    if (at == set->count || !set->spans[at].is_lesser || set->spans[at].start != address ||
        set->spans[at].end - address > most_bytes)
        return;
    set->count--;
    memmove(&set->spans[at], &set->spans[at + 1], (set->count - at) * sizeof(*set->spans));
    number_spans(set);
}

/* The end of a piece may be beyond the highest address. */
static bool holds(const struct span *span, uint64_t address, size_t size)
{
    return address >= span->start && address < span->end && size <= span->end - address;
}

struct span *span_set_find(const struct span_set *set, uint64_t address, size_t size, struct span *hint)
{
    if (hint != NULL && holds(hint, address, size))
        return hint;
    size_t at = count_before(set, address);
    if (at == set->count)
        return NULL;
    struct span *span = &set->spans[at];
    return holds(span, address, size) ? span : NULL;
}
