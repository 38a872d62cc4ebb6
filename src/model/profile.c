#include "model/profile.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"

#define FIRST_SLOTS 1024
#define MOST_SAMPLES ((size_t)UINT32_MAX - 1)

bool profile_init(struct profile *profile, bool keep_times, struct error *error)
{
    *profile = (struct profile){.keep_times = keep_times, .start_ns = NO_TIME, .end_ns = NO_TIME};
    bool good = string_table_init(&profile->strings, PROFILE_STRING_LIMIT_BYTES);
    frame_table_init(&profile->frames);
    good = stack_tree_init(&profile->stacks) && good;
    good = context_table_init(&profile->contexts) && good;
    if (good)
        return true;
    profile_release(profile);
    return error_set_memory(error);
}

static void free_list(struct profile *profile)
{
    if (profile->listed != NULL)
        stack_list_release(profile->listed);
    free(profile->listed);
    profile->listed = NULL;
}

void profile_release(struct profile *profile)
{
    string_table_release(&profile->strings);
    frame_table_release(&profile->frames);
    stack_tree_release(&profile->stacks);
    free_list(profile);
    context_table_release(&profile->contexts);
    free(profile->samples);
    free(profile->exact);
    free(profile->sample_slots);
    *profile = (struct profile){.samples = NULL};
}

uint32_t profile_string(struct profile *profile, struct text_view text)
{
    return string_table_add(&profile->strings, text);
}

uint32_t profile_frame(struct profile *profile, struct text_view name, struct text_view file, uint32_t line,
                       enum frame_kind kind)
{
    struct frame frame = {.line = line, .kind = kind};
    frame.name = profile_string(profile, name);
    frame.file = file.size == 0 ? 0 : profile_string(profile, file);
    if (frame.name == NO_STRING || frame.file == NO_STRING)
        return NO_FRAME;
    return frame_table_add(&profile->frames, frame);
}

uint32_t profile_event(struct profile *profile, struct text_view name, enum event_unit unit, bool shows_value)
{
    uint32_t string = profile_string(profile, name);
    for (uint32_t i = 0; i < profile->event_count; i++)
        if (profile->events[i].name == string && profile->events[i].unit == unit)
            return i;
    if (string == NO_STRING || profile->event_count == EVENT_LIMIT)
        return EVENT_LIMIT;
    profile->events[profile->event_count] = (struct event){string, unit, shows_value};
    return (uint32_t)profile->event_count++;
}

void profile_renumber_events(struct profile *profile, const uint32_t *numbers)
{
    struct event events[EVENT_LIMIT];
    for (size_t i = 0; i < profile->event_count; i++)
        events[numbers[i]] = profile->events[i];
    memcpy(profile->events, events, profile->event_count * sizeof(*events));
    for (size_t i = 0; i < profile->sample_count; i++)
        profile->samples[i].event = numbers[profile->samples[i].event];
    /* Samples were found by the old numbers. */
    free(profile->sample_slots);
    profile->sample_slots = NULL;
}

uint32_t profile_label_key(struct profile *profile, struct text_view name)
{
    struct context_table *contexts = &profile->contexts;
    enum label_key known = label_key_by_name(name);
    if (known != LABEL_KNOWN_COUNT)
        return known;
    uint32_t string = profile_string(profile, name);
    for (uint32_t key = LABEL_KNOWN_COUNT; key < contexts->key_count; key++)
        if (contexts->keys[key] == string)
            return key;
    if (string == NO_STRING || contexts->key_count == LABEL_KEY_LIMIT)
        return LABEL_KEY_LIMIT;
    contexts->keys[contexts->key_count] = string;
    return (uint32_t)contexts->key_count++;
}

struct text_view profile_label_key_name(const struct profile *profile, uint32_t key)
{
    if (key < LABEL_KNOWN_COUNT)
        return text_of(label_key_name(key));
    return key < profile->contexts.key_count ? profile_text(profile, profile->contexts.keys[key]) : TEXT("");
}

static uint64_t hash_sample(const struct sample *sample)
{
    return hash_mix(hash_pair(sample->stack, sample->context) ^ sample->event, HASH_MULTIPLIER);
}

static bool grow_sample_slots(struct profile *profile)
{
    size_t count = profile->sample_slots == NULL ? FIRST_SLOTS : (profile->sample_slot_mask + 1) * 2;
    while (count < (profile->sample_count + 1) * 2)
        count *= 2;
    uint32_t *slots = calloc(count, sizeof(*slots));
    if (slots == NULL)
        return false;
    for (size_t i = 0; i < profile->sample_count; i++) {
        size_t slot = hash_sample(&profile->samples[i]) & (count - 1);
        while (slots[slot] != 0)
            slot = (slot + 1) & (count - 1);
        slots[slot] = (uint32_t)i + 1;
    }
    free(profile->sample_slots);
    profile->sample_slots = slots;
    profile->sample_slot_mask = count - 1;
    return true;
}

static bool append_sample(struct profile *profile, const struct sample *sample)
{
    if (!array_reserve(&profile->samples, &profile->sample_capacity, profile->sample_count + 1, MOST_SAMPLES))
        return false;
    profile->samples[profile->sample_count++] = *sample;
    return true;
}

uint32_t profile_sum_sample(struct profile *profile, const struct sample *sample)
{
    if ((profile->sample_slots == NULL || (profile->sample_count + 1) * 2 > profile->sample_slot_mask + 1) &&
        !grow_sample_slots(profile))
        return NO_SAMPLE;
    size_t slot = hash_sample(sample) & profile->sample_slot_mask;
    for (; profile->sample_slots[slot] != 0; slot = (slot + 1) & profile->sample_slot_mask) {
        uint32_t number = profile->sample_slots[slot] - 1;
        struct sample *known = &profile->samples[number];
        if (known->stack == sample->stack && known->context == sample->context &&
            known->event == sample->event) {
            known->value += sample->value;
            known->count += sample->count;
            return number;
        }
    }
    struct sample added = *sample;
    added.time_ns = NO_TIME;
    if (!append_sample(profile, &added))
        return NO_SAMPLE;
    profile->sample_slots[slot] = (uint32_t)profile->sample_count;
    return (uint32_t)profile->sample_count - 1;
}

void profile_prefetch_slot(const struct profile *profile, const struct sample *sample)
{
    if (profile->sample_slots != NULL)
        __builtin_prefetch(&profile->sample_slots[hash_sample(sample) & profile->sample_slot_mask]);
}

void profile_prefetch_sample(const struct profile *profile, const struct sample *sample)
{
    if (profile->sample_slots == NULL)
        return;
    uint32_t number = profile->sample_slots[hash_sample(sample) & profile->sample_slot_mask];
    if (number != 0)
        __builtin_prefetch(&profile->samples[number - 1], 1);
}

bool profile_add_sample(struct profile *profile, const struct sample *sample)
{
    if (sample->stack == NO_STACK || sample->context == NO_CONTEXT || sample->event >= EVENT_LIMIT)
        return false;
    return profile->keep_times ? append_sample(profile, sample)
                               : profile_sum_sample(profile, sample) != NO_SAMPLE;
}

bool profile_list_stacks(struct profile *profile, struct stack_list *list)
{
    profile->listed = malloc(sizeof(*profile->listed));
    if (profile->listed == NULL) {
        stack_list_release(list);
        profile->sample_count = 0;
        return false;
    }
    stack_list_seal(list);
    *profile->listed = *list;
    stack_list_init(list);
    /* They were found by numbers of another list, or none. */
    free(profile->sample_slots);
    profile->sample_slots = NULL;
    return true;
}

bool profile_place_stacks(struct profile *profile, struct error *error)
{
    if (profile->listed == NULL)
        return true;
    uint32_t *nodes = malloc((profile->listed->size + 1) * sizeof(*nodes));
    bool good = nodes != NULL && stack_list_build(profile->listed, &profile->stacks, nodes);
    for (size_t i = 0; good && i < profile->sample_count; i++)
        profile->samples[i].stack = nodes[profile->samples[i].stack];
    free(nodes);
    free_list(profile);
    if (!good)
        profile->sample_count = 0;
    return good || error_set_memory(error);
}

static uint32_t context_with(struct context_table *contexts, uint32_t number, struct label label)
{
    struct label labels[LABEL_KEY_LIMIT + 1];
    struct context context = context_table_get(contexts, number);
    if (context.size >= LABEL_KEY_LIMIT || context_table_value(contexts, number, label.key) != 0)
        return number;
    memcpy(labels, context.labels, context.size * sizeof(*labels));
    labels[context.size] = label;
    return context_table_add(contexts, labels, context.size + 1);
}

bool profile_set_label(struct profile *profile, enum label_key key, struct text_view value,
                       struct error *error)
{
    struct label label = {key, profile_string(profile, value)};
    size_t count = profile->contexts.size;
    uint32_t *changed = calloc(count + 1, sizeof(*changed));
    bool good = changed != NULL && label.value != NO_STRING;
    for (size_t i = 0; good && i < profile->sample_count; i++) {
        struct sample *sample = &profile->samples[i];
        uint32_t *place = &changed[sample->context];
        if (*place == 0)
            *place = context_with(&profile->contexts, sample->context, label) + 1;
        good = *place != 0; /* NO_CONTEXT + 1 */
        sample->context = *place - 1;
    }
    free(changed);
    return good || error_set_memory(error);
}

struct sample *profile_take_samples(struct profile *profile, size_t *count)
{
    struct sample *samples = profile->samples;
    *count = profile->sample_count;
    free(profile->sample_slots);
    profile->sample_slots = NULL;
    profile->samples = NULL;
    profile->sample_count = profile->sample_capacity = 0;
    return samples;
}

void profile_seal(struct profile *profile)
{
    free(profile->sample_slots);
    profile->sample_slots = NULL;
    stack_tree_seal(&profile->stacks);
}
