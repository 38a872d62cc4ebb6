#include "formats/partial/partial_writer.h"

#include "formats/partial/partial_format.h"
#include "model/fixed_point.h"

static void put(struct output *output, uint64_t number)
{
    char *room = output_room(output, 10);
    size_t size = 0;
    for (; number >= 0x80; number >>= 7)
        room[size++] = (char)(number | 0x80);
    room[size++] = (char)number;
    output_took(output, size);
}

static void put_signed(struct output *output, int64_t number)
{
    put(output, (uint64_t)number << 1 ^ (uint64_t)(number >> 63));
}

static void put_text(struct output *output, struct text_view text)
{
    put(output, text.size);
    output_text(output, text);
}

static size_t shared_size(struct text_view left, struct text_view right)
{
    size_t size = 0;
    while (size < left.size && size < right.size && left.data[size] == right.data[size])
        size++;
    return size;
}

static void put_head(const struct profile *sum, const struct read_options *read, struct output *output)
{
    output_text(output, PARTIAL_MAGIC);
    put(output, (sum->keep_times ? PARTIAL_TIMES : 0u) | (read->sum->labels ? PARTIAL_LABELS : 0u) |
                    (read->needs_lines ? PARTIAL_LINES : 0u) | (read->joins_java_kinds ? 0u : PARTIAL_KINDS) |
                    (read->sum->stitches ? PARTIAL_STITCHED : 0u) |
                    (sum->times_are_absolute ? PARTIAL_ABSOLUTE : 0u));
    put_text(output, read->event);
    put_signed(output, sum->start_ns);
    put_signed(output, sum->end_ns);
}

static void put_strings(const struct profile *sum, struct output *output)
{
    put(output, sum->strings.size);
    for (uint32_t i = 1; i < sum->strings.size; i++) {
        struct text_view text = profile_text(sum, i);
        size_t shared = shared_size(profile_text(sum, i - 1), text);
        put(output, shared);
        put_text(output, text_from(text, shared));
    }
}

static void put_frames(const struct profile *sum, struct output *output)
{
    put(output, sum->frames.size);
    for (size_t i = 0; i < sum->frames.size; i++) {
        const struct frame *frame = &sum->frames.frames[i];
        put(output, frame->name);
        put(output, frame->file);
        put(output, frame->line);
        put(output, frame->kind);
    }
}

static void put_stacks(const struct profile *sum, struct output *output)
{
    put(output, sum->stacks.size);
    for (uint32_t i = 1; i < sum->stacks.size; i++) {
        put(output, i - sum->stacks.nodes[i].parent);
        put(output, sum->stacks.nodes[i].frame);
    }
}

static void put_labels(const struct profile *sum, struct output *output)
{
    const struct context_table *contexts = &sum->contexts;
    put(output, contexts->key_count - LABEL_KNOWN_COUNT);
    for (size_t key = LABEL_KNOWN_COUNT; key < contexts->key_count; key++)
        put(output, contexts->keys[key]);
    put(output, contexts->size);
    for (uint32_t i = 1; i < contexts->size; i++) {
        struct context context = context_table_get(contexts, i);
        put(output, context.size);
        for (size_t j = 0; j < context.size; j++) {
            put(output, context.labels[j].key);
            put(output, context.labels[j].value);
        }
    }
}

static void put_events(const struct profile *sum, struct output *output)
{
    put(output, sum->event_count);
    for (size_t i = 0; i < sum->event_count; i++) {
        put(output, sum->events[i].name);
        put(output, sum->events[i].unit);
        put(output, sum->events[i].shows_value);
    }
}

static void put_weights(const struct exact_weights *exact, unsigned flags, struct output *output)
{
    put_signed(output, exact->value);
    if (flags & PARTIAL_VALUE_FRACTION)
        put(output, exact->value_fraction);
    if (!(flags & PARTIAL_SAME_COUNT))
        put_signed(output, exact->count);
    if (flags & PARTIAL_COUNT_FRACTION)
        put(output, exact->count_fraction);
}

static void put_samples(const struct profile *sum, struct output *output)
{
    uint64_t before = 0;
    put(output, sum->sample_count);
    for (size_t i = 0; i < sum->sample_count; i++) {
        const struct sample *sample = &sum->samples[i];
        const struct exact_weights *exact = &sum->exact[i];
        unsigned flags = (exact->value == exact->count ? PARTIAL_SAME_COUNT : 0u) |
                         (exact->value_fraction != 0 ? PARTIAL_VALUE_FRACTION : 0u) |
                         (exact->count_fraction != 0 ? PARTIAL_COUNT_FRACTION : 0u);
        put(output, flags);
        put(output, sample->event);
        put(output, sample->stack);
        put(output, sample->context);
        if (sum->keep_times)
            put_signed(output, (int64_t)((uint64_t)sample->time_ns - before));
        before = (uint64_t)sample->time_ns;
        put_weights(exact, flags, output);
    }
}

void partial_write(const struct profile *sum, const struct read_options *read, struct output *output)
{
    put_head(sum, read, output);
    put_strings(sum, output);
    put_frames(sum, output);
    put_stacks(sum, output);
    put_labels(sum, output);
    put_events(sum, output);
    put_samples(sum, output);
    output_text(output, PARTIAL_END);
}
