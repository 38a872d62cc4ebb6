#include "collector/store/rollup_cover.h"

#include <stdlib.h>

#include "base/array.h"

#define SPAN_LIMIT ((size_t)1 << 26)

struct covering {
    struct rollup_cover *cover;
    uint64_t next; /* up to here all is covered */
    bool failed;
};

static bool add_span(struct rollup_cover *cover, uint64_t rollup, uint64_t from, uint64_t before)
{
    if (!array_reserve(&cover->spans, &cover->capacity, cover->count + 1, SPAN_LIMIT))
        return false;
    cover->spans[cover->count++] = (struct rollup_span){rollup, from, before};
    return true;
}

/* They come by their first number, of several with the same the longest first. */
static bool take_rollup(void *context, const struct stored_rollup *rollup)
{
    struct covering *covering = context;
    if (rollup->first < covering->next)
        return true;
    covering->failed =
        (rollup->first > covering->next && !add_span(covering->cover, 0, covering->next, rollup->first)) ||
        !add_span(covering->cover, rollup->number, rollup->first, rollup->last + 1);
    covering->next = rollup->last + 1;
    return !covering->failed;
}

bool rollup_cover_make(struct rollup_cover *cover, struct recording_index *index, const char *group,
                       uint64_t from, uint64_t before, bool uses_rollups, struct error *error)
{
    struct covering covering = {.cover = cover, .next = from};
    *cover = (struct rollup_cover){.spans = NULL};
    if (uses_rollups &&
        !recording_index_each_rollup(index, group, from, before, take_rollup, &covering, error))
        return false;
    if (!covering.failed && covering.next < before)
        covering.failed = !add_span(cover, 0, covering.next, before);
    return !covering.failed || error_set_memory(error);
}

bool rollup_cover_replace(struct rollup_cover *cover, size_t span, struct error *error)
{
    struct rollup_span replaced = cover->spans[span];
    return add_span(cover, 0, replaced.from, replaced.before) || error_set_memory(error);
}

void rollup_cover_release(struct rollup_cover *cover)
{
    free(cover->spans);
    *cover = (struct rollup_cover){.spans = NULL};
}
