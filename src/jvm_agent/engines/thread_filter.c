#include "jvm_agent/engines/thread_filter.h"

#include <stddef.h>

#include "base/text_view.h"

struct range {
    int32_t first, last;
};

static struct range ranges[THREAD_FILTER_RANGES];
static size_t range_count;
static bool filters;

static bool read_range(struct text_view part, struct range *range)
{
    uint64_t first, last;
    bool single = text_find(part, TEXT("-")) == TEXT_NOT_FOUND;
    if (!text_to_u64(text_cut(&part, '-'), &first) || first == 0 || first > INT32_MAX)
        return false;
    last = first;
    if (!single && (!text_to_u64(part, &last) || last < first || last > INT32_MAX))
        return false;
    *range = (struct range){(int32_t)first, (int32_t)last};
    return true;
}

bool thread_filter_set(const char *text, struct error *error)
{
    struct text_view rest = text_of(text);
    range_count = 0;
    filters = text != NULL;
    while (rest.size > 0) {
        struct text_view part = text_cut(&rest, ';');
        if (range_count == THREAD_FILTER_RANGES)
            return error_set(error, ERROR_USAGE, "filter has more than %d ranges", THREAD_FILTER_RANGES);
        if (!read_range(part, &ranges[range_count++]))
            return error_set(error, ERROR_USAGE, "filter=%.*s is not a thread id or a range of ids",
                             TEXT_FORMAT(part));
    }
    return true;
}

bool thread_filter_accepts(int32_t tid)
{
    if (!filters)
        return true;
    for (size_t i = 0; i < range_count; i++)
        if (tid >= ranges[i].first && tid <= ranges[i].last)
            return true;
    return false;
}
