#include "formats/json/sample_groups.h"

#include <stdlib.h>

#include "base/array.h"

/* What samples are sorted by. */
struct sort_key {
    uint32_t event;
    uint32_t process;
    uint32_t thread;
    uint32_t sample;
    int64_t time_ns;
    uint32_t stack;
};

static struct sort_key key_of(const struct profile *profile, size_t number, bool by_thread)
{
    const struct sample *sample = &profile->samples[number];
    struct sort_key key = {.event = sample->event, .sample = (uint32_t)number, .stack = sample->stack};
    if (by_thread) {
        key.process = context_table_value(&profile->contexts, sample->context, LABEL_PROCESS);
        key.thread = context_table_value(&profile->contexts, sample->context, LABEL_THREAD);
        if (key.thread == 0)
            key.thread = context_table_value(&profile->contexts, sample->context, LABEL_THREAD_ID);
        key.time_ns = sample->time_ns;
    }
    return key;
}

static int compare_numbers(uint32_t left, uint32_t right)
{
    return left < right ? -1 : left > right;
}

static int compare_keys(const void *left_key, const void *right_key)
{
    const struct sort_key *left = left_key, *right = right_key;
    int order = compare_numbers(left->event, right->event);
    if (order == 0)
        order = compare_numbers(left->process, right->process);
    if (order == 0)
        order = compare_numbers(left->thread, right->thread);
    if (order == 0)
        order = left->time_ns < right->time_ns ? -1 : left->time_ns > right->time_ns;
    if (order == 0)
        order = compare_numbers(left->stack, right->stack);
    return order != 0 ? order : compare_numbers(left->sample, right->sample);
}

static bool same_group(const struct sample_group *group, const struct sort_key *key)
{
    return group->event == key->event && group->process == key->process && group->thread == key->thread;
}

static bool make_groups(struct sample_groups *groups, const struct sort_key *keys, size_t count)
{
    size_t capacity = 0;
    for (size_t i = 0; i < count; i++) {
        groups->order[i] = keys[i].sample;
        if (groups->size == 0 || !same_group(&groups->groups[groups->size - 1], &keys[i])) {
            if (!array_reserve(&groups->groups, &capacity, groups->size + 1, UINT32_MAX))
                return false;
            groups->groups[groups->size++] =
                (struct sample_group){keys[i].event, keys[i].process, keys[i].thread, true, i, 0};
        }
        struct sample_group *group = &groups->groups[groups->size - 1];
        group->count++;
        group->is_timed = group->is_timed && groups->profile->samples[keys[i].sample].time_ns != NO_TIME;
    }
    return true;
}

bool sample_groups_init(struct sample_groups *groups, const struct profile *profile, bool by_thread,
                        struct error *error)
{
    *groups = (struct sample_groups){.profile = profile};
    size_t count = profile->sample_count;
    groups->order = malloc((count + 1) * sizeof(*groups->order));
    struct sort_key *keys = malloc((count + 1) * sizeof(*keys));
    bool good = groups->order != NULL && keys != NULL;
    if (good) {
        for (size_t i = 0; i < count; i++)
            keys[i] = key_of(profile, i, by_thread);
        qsort(keys, count, sizeof(*keys), compare_keys);
        good = make_groups(groups, keys, count);
    }
    free(keys);
    if (good)
        return true;
    sample_groups_release(groups);
    return error_set_memory(error);
}

void sample_groups_release(struct sample_groups *groups)
{
    free(groups->order);
    free(groups->groups);
    *groups = (struct sample_groups){.order = NULL};
}
