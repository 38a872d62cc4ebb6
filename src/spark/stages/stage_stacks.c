#include "spark/stages/stage_stacks.h"

#include <stdlib.h>

#include "model/main_event.h"

static bool whole_number(struct text_view text, int64_t *number)
{
    *number = 0;
    if (text.size == 0 || text.size > 18)
        return false;
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] < '0' || text.data[i] > '9')
            return false;
        *number = *number * 10 + (text.data[i] - '0');
    }
    return true;
}

static bool place_sample(const struct profile *profile, const struct sample *sample,
                         struct stage_stack *placed)
{
    uint32_t stage = context_table_value(&profile->contexts, sample->context, LABEL_STAGE);
    uint32_t attempt = context_table_value(&profile->contexts, sample->context, LABEL_STAGE_ATTEMPT);
    *placed = (struct stage_stack){.stack = sample->stack, .count = sample->count};
    if (stage == 0 || !whole_number(profile_text(profile, stage), &placed->stage))
        return false;
    if (attempt != 0 && !whole_number(profile_text(profile, attempt), &placed->attempt))
        placed->attempt = 0;
    return true;
}

static int compare_stages(const struct stage_stack *a, const struct stage_stack *b)
{
    if (a->stage != b->stage)
        return a->stage < b->stage ? -1 : 1;
    return (a->attempt > b->attempt) - (a->attempt < b->attempt);
}

static int compare_items(const void *left, const void *right)
{
    const struct stage_stack *a = left, *b = right;
    int order = compare_stages(a, b);
    return order != 0 ? order : (a->stack > b->stack) - (a->stack < b->stack);
}

/* Equal ones, which are neighbours now, become one. */
static void join_equal(struct stage_stacks *stacks)
{
    size_t kept = 0;
    for (size_t i = 0; i < stacks->size; i++) {
        if (kept > 0 && compare_items(&stacks->items[kept - 1], &stacks->items[i]) == 0)
            stacks->items[kept - 1].count += stacks->items[i].count;
        else
            stacks->items[kept++] = stacks->items[i];
    }
    stacks->size = kept;
}

bool stage_stacks_init(struct stage_stacks *stacks, const struct profile *profile, struct error *error)
{
    *stacks = (struct stage_stacks){.profile = profile};
    if (profile == NULL || profile->sample_count == 0)
        return true;
    stacks->event = main_event_of(profile);
    stacks->items = malloc(profile->sample_count * sizeof(*stacks->items));
    if (stacks->items == NULL)
        return error_set_memory(error);
    for (size_t i = 0; i < profile->sample_count; i++)
        if (profile->samples[i].event == stacks->event)
            stacks->size += place_sample(profile, &profile->samples[i], &stacks->items[stacks->size]);
    if (stacks->size > 0)
        qsort(stacks->items, stacks->size, sizeof(*stacks->items), compare_items);
    join_equal(stacks);
    return true;
}

void stage_stacks_release(struct stage_stacks *stacks)
{
    free(stacks->items);
    *stacks = (struct stage_stacks){.items = NULL};
}

size_t stage_stacks_end(const struct stage_stacks *stacks, size_t from)
{
    size_t end = from;
    while (end < stacks->size && compare_stages(&stacks->items[from], &stacks->items[end]) == 0)
        end++;
    return end;
}
