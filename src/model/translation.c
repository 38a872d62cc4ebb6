#include "model/translation.h"

#include <stdlib.h>
#include <string.h>

static uint32_t *new_numbers(size_t count)
{
    return malloc((count == 0 ? 1 : count) * sizeof(uint32_t));
}

static bool translate_all_strings(struct translation *to, struct profile *into, const struct profile *from)
{
    for (uint32_t i = 0; i < from->strings.size; i++) {
        to->strings[i] = profile_string(into, profile_text(from, i));
        if (to->strings[i] == NO_STRING)
            return false;
    }
    return true;
}

static bool translate_string(struct translation *to, struct profile *into, const struct profile *from,
                             uint32_t string)
{
    if (to->strings[string] == NO_STRING)
        to->strings[string] = profile_string(into, profile_text(from, string));
    return to->strings[string] != NO_STRING;
}

/* Unless all labels are kept, only those of frames at first: values of labels differ from process to process. */
static bool translate_strings(struct translation *to, struct profile *into, const struct profile *from,
                              const struct label_choice *labels)
{
    to->strings = new_numbers(from->strings.size);
    if (to->strings == NULL)
        return false;
    if (labels != NULL && labels->keeps == NULL)
        return translate_all_strings(to, into, from);
    memset(to->strings, 0xff, from->strings.size * sizeof(*to->strings));
    for (size_t i = 0; i < from->frames.size; i++) {
        const struct frame *frame = &from->frames.frames[i];
        if (!translate_string(to, into, from, frame->name) || !translate_string(to, into, from, frame->file))
            return false;
    }
    return true;
}

static bool translate_frames(struct translation *to, struct profile *into, const struct profile *from)
{
    to->frames = new_numbers(from->frames.size);
    if (to->frames == NULL)
        return false;
    for (size_t i = 0; i < from->frames.size; i++) {
        struct frame frame = from->frames.frames[i];
        frame.name = to->strings[frame.name];
        frame.file = to->strings[frame.file];
        to->frames[i] = frame_table_add(&into->frames, frame);
        if (to->frames[i] == NO_FRAME)
            return false;
    }
    return true;
}

/* Parents come before their children, so one forward pass is enough. */
static bool translate_stacks(struct translation *to, struct profile *into, const struct profile *from)
{
    to->stacks = new_numbers(from->stacks.size);
    if (to->stacks == NULL)
        return false;
    to->stacks[STACK_ROOT] = STACK_ROOT;
    for (size_t i = 1; i < from->stacks.size; i++) {
        struct stack_node node = from->stacks.nodes[i];
        to->stacks[i] = stack_tree_child(&into->stacks, to->stacks[node.parent], to->frames[node.frame]);
        if (to->stacks[i] == NO_STACK)
            return false;
    }
    return true;
}

static bool translate_events(struct translation *to, struct profile *into, const struct profile *from)
{
    for (size_t i = 0; i < from->event_count; i++) {
        const struct event *event = &from->events[i];
        to->events[i] = profile_event(into, profile_text(from, event->name), event->unit, event->shows_value);
        if (to->events[i] == EVENT_LIMIT)
            return false;
    }
    return true;
}

/* Those that are left out become LABEL_KEY_LIMIT. */
static bool translate_keys(struct translation *to, struct profile *into, const struct profile *from,
                           const struct label_choice *choice)
{
    for (uint32_t key = 0; key < from->contexts.key_count; key++) {
        struct text_view name = profile_label_key_name(from, key);
        to->keys[key] = LABEL_KEY_LIMIT;
        if (choice->keeps != NULL && !choice->keeps(choice->context, name))
            continue;
        to->keys[key] = profile_label_key(into, name);
        if (to->keys[key] == LABEL_KEY_LIMIT && !choice->may_drop)
            return false;
    }
    return true;
}

static bool translate_labels(struct translation *to, struct profile *into, const struct profile *from,
                             const struct label_choice *choice)
{
    to->contexts = new_numbers(from->contexts.size);
    if (to->contexts == NULL || !translate_keys(to, into, from, choice))
        return false;
    for (uint32_t i = 0; i < from->contexts.size; i++) {
        struct context context = context_table_get(&from->contexts, i);
        struct label labels[LABEL_KEY_LIMIT];
        size_t count = 0;
        for (size_t j = 0; j < context.size; j++) {
            uint32_t key = to->keys[context.labels[j].key];
            if (key == LABEL_KEY_LIMIT)
                continue;
            if (!translate_string(to, into, from, context.labels[j].value))
                return false;
            labels[count++] = (struct label){key, to->strings[context.labels[j].value]};
        }
        to->contexts[i] = context_table_add(&into->contexts, labels, count);
        if (to->contexts[i] == NO_CONTEXT)
            return false;
    }
    return true;
}

static bool forget_labels(struct translation *to, const struct profile *from)
{
    to->contexts = calloc(from->contexts.size + 1, sizeof(*to->contexts));
    return to->contexts != NULL;
}

bool translation_make(struct translation *to, struct profile *into, const struct profile *from,
                      const struct label_choice *labels, struct error *error)
{
    *to = (struct translation){.strings = NULL};
    return (translate_strings(to, into, from, labels) && translate_frames(to, into, from) &&
            translate_stacks(to, into, from) && translate_events(to, into, from) &&
            (labels != NULL ? translate_labels(to, into, from, labels) : forget_labels(to, from))) ||
           error_set(error, ERROR_MEMORY,
                     "cannot merge profiles: out of memory, or too many events or labels");
}

void translation_release(struct translation *to)
{
    free(to->strings);
    free(to->frames);
    free(to->stacks);
    free(to->contexts);
    *to = (struct translation){.strings = NULL};
}

void profile_join_times(struct profile *into, const struct profile *from)
{
    if (into->start_ns == NO_TIME || (from->start_ns != NO_TIME && from->start_ns < into->start_ns))
        into->start_ns = from->start_ns;
    if (into->end_ns == NO_TIME || (from->end_ns != NO_TIME && from->end_ns > into->end_ns))
        into->end_ns = from->end_ns;
    into->times_are_absolute = into->times_are_absolute || from->times_are_absolute;
}
