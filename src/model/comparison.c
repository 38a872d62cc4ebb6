#include "model/comparison.h"

#include <stdlib.h>

#include "base/text_builder.h"

#define NAME_LIMIT_BYTES ((size_t)4 << 20)

struct side {
    const struct profile *profile;
    uint32_t event;
    uint32_t new_event;
    double factor;
    uint32_t *frames;
    uint32_t *stacks;
};

static bool is_hex(char byte)
{
    return (byte >= '0' && byte <= '9') || ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'f');
}

static void add_without_addresses(struct text_builder *text, struct text_view name)
{
    for (size_t i = 0; i < name.size; i++) {
        text_builder_add_byte(text, name.data[i]);
        if (name.data[i] != 'x' || i == 0 || name.data[i - 1] != '0')
            continue;
        size_t end = i + 1;
        while (end < name.size && is_hex(name.data[end]))
            end++;
        if (end > i + 1)
            text_builder_add(text, TEXT("..."));
        i = end - 1;
    }
}

static double total_of(const struct side *side, enum weight weight)
{
    double total = 0;
    for (size_t i = 0; i < side->profile->sample_count; i++)
        if (side->profile->samples[i].event == side->event)
            total += weight_of(side->profile, &side->profile->samples[i], weight);
    return total;
}

static bool translate_frames(struct side *side, struct profile *both, bool strip)
{
    const struct profile *from = side->profile;
    struct text_builder text;
    text_builder_init(&text, NAME_LIMIT_BYTES);
    side->frames = malloc((from->frames.size + 1) * sizeof(*side->frames));
    bool good = side->frames != NULL;
    for (uint32_t i = 0; i < from->frames.size && good; i++) {
        struct frame frame = from->frames.frames[i];
        struct text_view name = profile_text(from, frame.name);
        text_builder_clear(&text);
        if (strip)
            add_without_addresses(&text, name);
        side->frames[i] = profile_frame(both, strip ? text_builder_view(&text) : name,
                                        profile_text(from, frame.file), frame.line, frame.kind);
        good = side->frames[i] != NO_FRAME && !text.failed;
    }
    text_builder_release(&text);
    return good;
}

static bool translate_stacks(struct side *side, struct profile *both)
{
    const struct stack_tree *from = &side->profile->stacks;
    side->stacks = malloc(from->size * sizeof(*side->stacks));
    if (side->stacks == NULL)
        return false;
    side->stacks[STACK_ROOT] = STACK_ROOT;
    for (size_t i = 1; i < from->size; i++) {
        struct stack_node node = from->nodes[i];
        side->stacks[i] =
            stack_tree_child(&both->stacks, side->stacks[node.parent], side->frames[node.frame]);
        if (side->stacks[i] == NO_STACK)
            return false;
    }
    return true;
}

static bool add_side(struct side *side, struct profile *both, const struct comparison_options *options)
{
    if (side->new_event == EVENT_LIMIT || !translate_frames(side, both, options->strip_addresses) ||
        !translate_stacks(side, both))
        return false;
    for (size_t i = 0; i < side->profile->sample_count; i++) {
        const struct sample *sample = &side->profile->samples[i];
        if (sample->event != side->event)
            continue;
        double weight = weight_of(side->profile, sample, options->weight) * side->factor;
        struct sample added = {.stack = side->stacks[sample->stack],
                               .event = side->new_event,
                               .time_ns = NO_TIME,
                               .value = weight,
                               .count = weight};
        if (!profile_add_sample(both, &added))
            return false;
    }
    return true;
}

bool comparison_make(const struct profile *before, uint32_t before_event, const struct profile *after,
                     uint32_t after_event, const struct comparison_options *options, struct profile *both,
                     struct error *error)
{
    if (!profile_init(both, false, error))
        return false;
    enum event_unit unit = after->events[after_event].unit;
    struct side sides[2] = {
        {.profile = before, .event = before_event, .factor = 1},
        {.profile = after, .event = after_event, .factor = 1},
    };
    sides[0].new_event = profile_event(both, TEXT("before"), unit, true);
    sides[1].new_event = profile_event(both, TEXT("after"), unit, true);
    double total = total_of(&sides[0], options->weight);
    if (options->normalize && total > 0)
        sides[0].factor = total_of(&sides[1], options->weight) / total;
    bool good = add_side(&sides[0], both, options) && add_side(&sides[1], both, options);
    for (size_t side = 0; side < 2; side++) {
        free(sides[side].frames);
        free(sides[side].stacks);
    }
    return good || error_set_memory(error);
}
