#include "model/chart.h"

#include <stdlib.h>

#include "base/array.h"

/* Of counts that sum up to more, the last share a place. */
#define PLACE_LIMIT ((int64_t)1 << 52)

struct chart_row {
    int64_t time_ns;
    uint32_t sample;
};

struct path {
    uint32_t *nodes; /* of `from`, outermost first */
    uint32_t *made;  /* of the chart */
    size_t size;
    size_t capacity;
    size_t made_capacity;
};

static int compare_rows(const void *left, const void *right)
{
    const struct chart_row *a = left, *b = right;
    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns ? -1 : 1;
    /* Folded text for charts has the newest line first. */
    bool backward = a->time_ns == NO_TIME;
    return (a->sample < b->sample) != backward ? -1 : a->sample != b->sample;
}

static bool collect(const struct stack_tree *stacks, uint32_t stack, struct path *path)
{
    size_t depth = stack_tree_depth(stacks, stack);
    if (!array_reserve(&path->nodes, &path->capacity, depth + 1, UINT32_MAX) ||
        !array_reserve(&path->made, &path->made_capacity, depth + 1, UINT32_MAX))
        return false;
    path->size = depth;
    for (; depth > 0; stack = stacks->nodes[stack].parent)
        path->nodes[--depth] = stack;
    return true;
}

/* Boxes of the stack before are continued as far as both agree. */
static bool add_row(const struct profile *from, struct profile *chart, const struct sample *sample,
                    uint32_t filler, struct path *path, struct path *last)
{
    if (!collect(&from->stacks, sample->stack, path))
        return false;
    size_t shared = 0;
    while (shared < path->size && shared < last->size && path->nodes[shared] == last->nodes[shared]) {
        path->made[shared] = last->made[shared];
        shared++;
    }
    for (size_t i = shared; i < path->size; i++) {
        uint32_t parent = i == 0 ? STACK_ROOT : path->made[i - 1];
        path->made[i] = stack_tree_append(&chart->stacks, parent, from->stacks.nodes[path->nodes[i]].frame);
        if (path->made[i] == NO_STACK)
            return false;
    }
    struct sample added = *sample;
    uint32_t end = path->size == 0 ? STACK_ROOT : path->made[path->size - 1];
    added.stack = stack_tree_append(&chart->stacks, end, filler);
    added.context = 0;
    struct path swap = *path;
    *path = *last;
    *last = swap;
    return profile_add_sample(chart, &added);
}

static bool copy_tables(const struct profile *from, struct profile *chart)
{
    for (uint32_t i = 0; i < from->strings.size; i++)
        if (profile_string(chart, profile_text(from, i)) != i)
            return false;
    for (size_t i = 0; i < from->frames.size; i++)
        if (frame_table_add(&chart->frames, from->frames.frames[i]) != i)
            return false;
    memcpy(chart->events, from->events, sizeof(chart->events));
    chart->event_count = from->event_count;
    return true;
}

static bool fill(const struct profile *from, uint32_t event, struct profile *chart, struct chart_row *rows)
{
    struct path path = {.nodes = NULL}, last = {.nodes = NULL};
    size_t count = 0;
    for (size_t i = 0; i < from->sample_count; i++)
        if (from->samples[i].event == event)
            rows[count++] = (struct chart_row){from->samples[i].time_ns, (uint32_t)i};
    qsort(rows, count, sizeof(*rows), compare_rows);
    uint32_t filler = NO_FRAME;
    if (copy_tables(from, chart))
        filler = profile_frame(chart, TEXT(CHART_FILLER), TEXT(""), 0, FRAME_GROUP);
    bool good = filler != NO_FRAME;
    for (size_t i = 0; i < count && good; i++)
        good = add_row(from, chart, &from->samples[rows[i].sample], filler, &path, &last);
    free(path.nodes);
    free(path.made);
    free(last.nodes);
    free(last.made);
    return good;
}

bool chart_set_places(struct profile *profile)
{
    for (size_t i = 0; i < profile->sample_count; i++)
        if (profile->samples[i].time_ns != NO_TIME)
            return false;
    double place = 0;
    for (size_t i = profile->sample_count; i-- > 0;) {
        profile->samples[i].time_ns = place < (double)PLACE_LIMIT ? (int64_t)place : PLACE_LIMIT;
        place += profile->samples[i].count;
    }
    profile->start_ns = 0;
    profile->end_ns = place < (double)PLACE_LIMIT ? (int64_t)place : PLACE_LIMIT;
    return true;
}

bool chart_make(const struct profile *from, uint32_t event, struct profile *chart, struct error *error)
{
    if (!profile_init(chart, true, error))
        return false;
    struct chart_row *rows = malloc((from->sample_count + 1) * sizeof(*rows));
    bool good = rows != NULL && fill(from, event, chart, rows);
    free(rows);
    return good || error_set_memory(error);
}
