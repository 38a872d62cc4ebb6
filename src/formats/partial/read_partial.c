#include <stdlib.h>

#include "base/text_builder.h"
#include "formats/partial/partial_format.h"
#include "formats/reader.h"
#include "model/fixed_point.h"
#include "model/translation.h"

#define FILE_LIMIT_BYTES ((size_t)64 << 30)
#define TEXT_LIMIT_BYTES ((size_t)1 << 30)

struct partial {
    const struct read_options *options;
    struct profile *profile;
    struct error *error;
    const char *begin;
    struct text_view rest;
    unsigned holds;
    /* The profile's number of each. */
    uint32_t *strings, *frames, *stacks, *contexts;
    size_t string_count, frame_count, stack_count, context_count;
    uint32_t keys[LABEL_KEY_LIMIT], events[EVENT_LIMIT];
    size_t key_count, event_count;
    /* Of a reader that wants them exact. */
    struct sample *samples;
    struct exact_weights *exact;
};

/* ---- bytes ---- */

static bool bad(const struct partial *partial, const char *what)
{
    return error_set(partial->error, ERROR_BAD_INPUT, "byte %zu: %s",
                     (size_t)(partial->rest.data - partial->begin), what);
}

static bool take(struct partial *partial, uint64_t *number)
{
    *number = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (partial->rest.size == 0)
            return bad(partial, "the partial sum ends too early");
        unsigned char byte = (unsigned char)*partial->rest.data;
        partial->rest = text_from(partial->rest, 1);
        *number |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return true;
    }
    return bad(partial, "a number is too long");
}

static bool take_signed(struct partial *partial, int64_t *number)
{
    uint64_t coded;
    if (!take(partial, &coded))
        return false;
    *number = (int64_t)(coded >> 1 ^ -(coded & 1));
    return true;
}

static bool take_below(struct partial *partial, uint64_t limit, uint32_t *number)
{
    uint64_t wide;
    if (!take(partial, &wide))
        return false;
    if (wide >= limit || wide > UINT32_MAX)
        return bad(partial, "a number is too large");
    *number = (uint32_t)wide;
    return true;
}

static bool take_text(struct partial *partial, struct text_view *text)
{
    uint64_t size;
    if (!take(partial, &size))
        return false;
    if (size > partial->rest.size)
        return bad(partial, "a text is longer than the file");
    *text = text_part(partial->rest, 0, (size_t)size);
    partial->rest = text_from(partial->rest, (size_t)size);
    return true;
}

/* Of items that take at least a byte each, and room for the number of each; the first is there when `first` is 1. */
static bool take_list(struct partial *partial, size_t first, size_t *count, uint32_t **numbers)
{
    uint32_t size;
    if (!take_below(partial, partial->rest.size + first, &size))
        return false;
    if (size < first)
        return bad(partial, "a list lacks its first item");
    *numbers = calloc((size_t)size + 1, sizeof(**numbers));
    *count = size;
    return *numbers != NULL || error_set_memory(partial->error);
}

/* ---- the head ---- */

static bool check_holds(const struct partial *partial, struct text_view event)
{
    const struct read_options *options = partial->options;
    bool needs_labels = options->sum == NULL ? options->needs_contexts : options->sum->labels;
    bool is_stitched = partial->holds & PARTIAL_STITCHED;
    static const char *const names[] = {"times", "labels", "lines", "kinds of code"};
    unsigned needed = (partial->profile->keep_times ? PARTIAL_TIMES : 0u) |
                      (needs_labels ? PARTIAL_LABELS : 0u) | (options->needs_lines ? PARTIAL_LINES : 0u) |
                      (options->joins_java_kinds ? 0u : PARTIAL_KINDS);
    for (unsigned i = 0; i < COUNT_OF(names); i++)
        if (needed & ~partial->holds & 1u << i)
            return error_set(partial->error, ERROR_UNSUPPORTED,
                             "is a partial sum without %s, made for other options or another output",
                             names[i]);
    if (options->sum != NULL && options->sum->stitches != is_stitched)
        return error_set(partial->error, ERROR_UNSUPPORTED, "is a partial sum made with%s --stitch",
                         is_stitched ? "" : "out");
    if (event.size > 0 && !text_equal(event, options->event))
        return error_set(partial->error, ERROR_UNSUPPORTED, "is a partial sum of event %.*s only",
                         event.size > 100 ? 100 : (int)event.size, event.data);
    return true;
}

static bool read_head(struct partial *partial)
{
    struct text_view event = {"", 0};
    struct profile times = {.samples = NULL};
    uint32_t holds;
    if (!text_starts_with(partial->rest, PARTIAL_MAGIC))
        return bad(partial, "no partial sum of this version");
    partial->rest = text_from(partial->rest, PARTIAL_MAGIC.size);
    if (!take_below(partial, PARTIAL_HOLDS_ALL + 1, &holds) || !take_text(partial, &event) ||
        !take_signed(partial, &times.start_ns) || !take_signed(partial, &times.end_ns))
        return false;
    partial->holds = holds;
    times.times_are_absolute = holds & PARTIAL_ABSOLUTE;
    profile_join_times(partial->profile, &times);
    return check_holds(partial, event);
}

/* ---- tables ---- */

static bool read_string(struct partial *partial, struct text_builder *text, uint32_t *number)
{
    struct text_view rest;
    uint64_t shared;
    if (!take(partial, &shared) || !take_text(partial, &rest))
        return false;
    if (shared > text->size)
        return bad(partial, "a text shares more than there is");
    text->size = (size_t)shared;
    text_builder_add(text, rest);
    *number = text->failed ? NO_STRING : profile_string(partial->profile, text_builder_view(text));
    return *number != NO_STRING || error_set_memory(partial->error);
}

static bool read_strings(struct partial *partial)
{
    struct text_builder text;
    if (!take_list(partial, 1, &partial->string_count, &partial->strings))
        return false;
    text_builder_init(&text, TEXT_LIMIT_BYTES);
    bool good = true;
    for (size_t i = 1; good && i < partial->string_count; i++)
        good = read_string(partial, &text, &partial->strings[i]);
    text_builder_release(&text);
    return good;
}

static bool read_frames(struct partial *partial)
{
    if (!take_list(partial, 0, &partial->frame_count, &partial->frames))
        return false;
    for (size_t i = 0; i < partial->frame_count; i++) {
        struct frame frame;
        if (!take_below(partial, partial->string_count, &frame.name) ||
            !take_below(partial, partial->string_count, &frame.file) ||
            !take_below(partial, UINT64_C(1) << 32, &frame.line) ||
            !take_below(partial, FRAME_KIND_COUNT, &frame.kind))
            return false;
        frame.name = partial->strings[frame.name];
        frame.file = partial->strings[frame.file];
        partial->frames[i] = frame_table_add(&partial->profile->frames, frame);
        if (partial->frames[i] == NO_FRAME)
            return error_set_memory(partial->error);
    }
    return true;
}

static bool read_stacks(struct partial *partial)
{
    if (!take_list(partial, 1, &partial->stack_count, &partial->stacks))
        return false;
    partial->stacks[0] = STACK_ROOT;
    for (size_t i = 1; i < partial->stack_count; i++) {
        uint32_t up, frame;
        if (!take_below(partial, i + 1, &up) || !take_below(partial, partial->frame_count, &frame))
            return false;
        if (up == 0)
            return bad(partial, "a stack is its own parent");
        partial->stacks[i] =
            stack_tree_child(&partial->profile->stacks, partial->stacks[i - up], partial->frames[frame]);
        if (partial->stacks[i] == NO_STACK)
            return error_set_memory(partial->error);
    }
    return true;
}

static bool read_keys(struct partial *partial)
{
    uint32_t count, name;
    if (!take_below(partial, LABEL_KEY_LIMIT - LABEL_KNOWN_COUNT + 1, &count))
        return false;
    for (uint32_t i = 0; i < LABEL_KNOWN_COUNT; i++)
        partial->keys[i] = i;
    partial->key_count = LABEL_KNOWN_COUNT + count;
    for (size_t i = LABEL_KNOWN_COUNT; i < partial->key_count; i++) {
        if (!take_below(partial, partial->string_count, &name))
            return false;
        partial->keys[i] =
            profile_label_key(partial->profile, profile_text(partial->profile, partial->strings[name]));
        if (partial->keys[i] == LABEL_KEY_LIMIT)
            return error_set(partial->error, ERROR_MEMORY, "too many kinds of labels, or out of memory");
    }
    return true;
}

static bool read_context(struct partial *partial, uint32_t *number)
{
    struct label labels[LABEL_KEY_LIMIT];
    uint32_t count;
    if (!take_below(partial, LABEL_KEY_LIMIT + 1, &count))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        if (!take_below(partial, partial->key_count, &labels[i].key) ||
            !take_below(partial, partial->string_count, &labels[i].value))
            return false;
        labels[i] = (struct label){partial->keys[labels[i].key], partial->strings[labels[i].value]};
    }
    *number = context_table_add(&partial->profile->contexts, labels, count);
    return *number != NO_CONTEXT || error_set_memory(partial->error);
}

static bool read_contexts(struct partial *partial)
{
    if (!read_keys(partial) || !take_list(partial, 1, &partial->context_count, &partial->contexts))
        return false;
    for (size_t i = 1; i < partial->context_count; i++)
        if (!read_context(partial, &partial->contexts[i]))
            return false;
    return true;
}

static bool read_events(struct partial *partial)
{
    uint32_t count, name, unit, shows_value;
    if (!take_below(partial, EVENT_LIMIT + 1, &count))
        return false;
    partial->event_count = count;
    for (size_t i = 0; i < count; i++) {
        if (!take_below(partial, partial->string_count, &name) ||
            !take_below(partial, UNIT_BYTES + 1, &unit) || !take_below(partial, 2, &shows_value))
            return false;
        partial->events[i] =
            profile_event(partial->profile, profile_text(partial->profile, partial->strings[name]),
                          (enum event_unit)unit, shows_value == 1);
        if (partial->events[i] == EVENT_LIMIT)
            return error_set(partial->error, ERROR_MEMORY, "too many events, or out of memory");
    }
    return true;
}

/* ---- samples ---- */

static bool take_weights(struct partial *partial, uint32_t flags, struct exact_weights *exact)
{
    *exact = (struct exact_weights){0};
    if (!take_signed(partial, &exact->value) ||
        ((flags & PARTIAL_VALUE_FRACTION) && !take_below(partial, UINT64_C(1) << 32, &exact->value_fraction)))
        return false;
    exact->count = exact->value;
    return ((flags & PARTIAL_SAME_COUNT) || take_signed(partial, &exact->count)) &&
           (!(flags & PARTIAL_COUNT_FRACTION) ||
            take_below(partial, UINT64_C(1) << 32, &exact->count_fraction));
}

static bool take_sample(struct partial *partial, uint64_t *time, struct sample *sample,
                        struct exact_weights *exact)
{
    uint32_t flags;
    int64_t step = 0;
    *sample = (struct sample){.time_ns = NO_TIME};
    if (!take_below(partial, PARTIAL_SAMPLE_ALL + 1, &flags) ||
        !take_below(partial, partial->event_count, &sample->event) ||
        !take_below(partial, partial->stack_count, &sample->stack) ||
        !take_below(partial, partial->context_count, &sample->context) ||
        ((partial->holds & PARTIAL_TIMES) && !take_signed(partial, &step)) ||
        !take_weights(partial, flags, exact))
        return false;
    *time += (uint64_t)step;
    if (partial->profile->keep_times)
        sample->time_ns = (int64_t)*time;
    sample->event = partial->events[sample->event];
    sample->stack = partial->stacks[sample->stack];
    sample->context = partial->contexts[sample->context];
    sample->value = fixed_point_double((struct fixed_point){exact->value, exact->value_fraction});
    sample->count = fixed_point_double((struct fixed_point){exact->count, exact->count_fraction});
    return true;
}

/* A sample takes at least five bytes. */
static bool begin_samples(struct partial *partial, uint32_t *count)
{
    if (!take_below(partial, partial->rest.size / 5 + 1, count))
        return false;
    if (partial->options->sum == NULL || partial->profile->sample_count > 0)
        return true;
    partial->samples = malloc(((size_t)*count + 1) * sizeof(*partial->samples));
    partial->exact = malloc(((size_t)*count + 1) * sizeof(*partial->exact));
    return (partial->samples != NULL && partial->exact != NULL) || error_set_memory(partial->error);
}

static bool read_samples(struct partial *partial)
{
    uint32_t count;
    uint64_t time = 0;
    if (!begin_samples(partial, &count))
        return false;
    for (size_t i = 0; i < count; i++) {
        struct sample sample;
        struct exact_weights exact;
        if (!take_sample(partial, &time, &sample, &exact))
            return false;
        if (partial->exact != NULL) {
            partial->samples[i] = sample;
            partial->exact[i] = exact;
        } else if (!profile_add_sample(partial->profile, &sample)) {
            return error_set_memory(partial->error);
        }
    }
    if (!text_equal(partial->rest, PARTIAL_END))
        return bad(partial, "the end of the partial sum is missing");
    if (partial->exact != NULL) {
        free(partial->profile->samples);
        partial->profile->samples = partial->samples;
        partial->profile->exact = partial->exact;
        partial->profile->sample_count = partial->profile->sample_capacity = count;
        partial->samples = NULL;
        partial->exact = NULL;
    }
    return true;
}

/* ---- the reader ---- */

static bool read_partial(struct byte_source *source, const struct read_options *options,
                         struct profile *profile, struct error *error)
{
    struct partial partial = {.options = options, .profile = profile, .error = error};
    if (!byte_source_all(source, FILE_LIMIT_BYTES, &partial.rest, error))
        return false;
    partial.begin = partial.rest.data;
    bool good = read_head(&partial) && read_strings(&partial) && read_frames(&partial) &&
                read_stacks(&partial) && read_contexts(&partial) && read_events(&partial) &&
                read_samples(&partial);
    free(partial.strings);
    free(partial.frames);
    free(partial.stacks);
    free(partial.contexts);
    free(partial.samples);
    free(partial.exact);
    return good;
}

static int recognizes(struct text_view head)
{
    return text_starts_with(head, text_part(PARTIAL_MAGIC, 0, PARTIAL_MAGIC.size - 2)) ? 100 : 0;
}

const struct reader reader_partial = {
    .name = "partial",
    .summary = "sums of some of the profiles of a merge, written by merge --partial",
    .recognizes = recognizes,
    .read = read_partial,
};
