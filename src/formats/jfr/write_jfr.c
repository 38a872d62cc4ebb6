/*
 * write_jfr.c - any profile as a Flight Recorder file of one chunk.
 *
 * CPU, wall clock, allocation, lock and park samples become the standard event types, one event for each time they
 * were counted, so that other tools know them; what does not fit these becomes "sparkflame.sample_EVENT" with fields
 * `count` and `value`, `nanoseconds` or `bytes`. Labels beyond thread and state become profiler.Span events that
 * cover the samples which have them. Samples without a time get one nanosecond each, in order.
 */
#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "formats/jfr/jfr_chunk.h"
#include "formats/jfr/jfr_constants.h"
#include "formats/jfr/jfr_output.h"
#include "formats/writer.h"

#define EVENTS_LIMIT_BYTES ((size_t)3 << 30)
#define MOST_STANDARD_EVENTS 20e6
#define MOST_RUNS ((size_t)1 << 26)

/* Samples of one thread, one after the other, that have the same labels. */
struct label_run {
    int64_t first_tick;
    int64_t last_tick;
    uint64_t tag;
};

/* How samples of an event of the profile are written. */
struct writing_plan {
    enum jfr_out_type type;
    bool has_class;
    bool is_time; /* the value is a duration */
};

struct jfr_writer {
    const struct profile *profile;
    struct jfr_constants constants;
    struct writing_plan plans[EVENT_LIMIT];
    struct jfr_own_type own[EVENT_LIMIT];
    size_t own_count;
    bool uses_default_state;
    int64_t start_ns;
    struct text_builder events;
    struct text_builder body;
    struct text_builder tag;
    uint32_t *order;
    uint64_t *context_tags; /* plus one; 0: not yet made */
    struct id_map run_of_thread;
    struct label_run *runs; /* the open one of each thread */
    size_t run_count;
    size_t run_capacity;
};

static const struct {
    const char *event;
    enum event_unit unit;
    struct writing_plan plan;
} standard_plans[] = {
    {"cpu", UNIT_COUNT, {JFR_OUT_EXECUTION_SAMPLE, false, false}},
    {"wall", UNIT_COUNT, {JFR_OUT_WALL_SAMPLE, false, false}},
    {"alloc", UNIT_BYTES, {JFR_OUT_ALLOCATION_IN_TLAB, true, false}},
    {"alloc-sample", UNIT_BYTES, {JFR_OUT_ALLOCATION_SAMPLE, true, false}},
    {"live", UNIT_BYTES, {JFR_OUT_LIVE_OBJECT, true, false}},
    {"lock", UNIT_NANOSECONDS, {JFR_OUT_MONITOR_ENTER, true, true}},
    {"park", UNIT_NANOSECONDS, {JFR_OUT_THREAD_PARK, true, true}},
};

static bool is_whole(double number, double most)
{
    return number >= 0 && number <= most && number == floor(number);
}

/* All samples of the event can be written as standard events. */
static bool fits_standard(const struct jfr_writer *writer, uint32_t event, enum jfr_out_type type)
{
    const struct profile *profile = writer->profile;
    double total = 0;
    bool has_state = false, lacks_state = false;
    for (size_t i = 0; i < profile->sample_count; i++) {
        const struct sample *sample = &profile->samples[i];
        if (sample->event != event)
            continue;
        bool is_counted = profile->events[event].unit == UNIT_COUNT;
        if (!is_whole(sample->count, INT32_MAX) || sample->count == 0 || !is_whole(sample->value, 9e15) ||
            (is_counted && sample->value != sample->count))
            return false;
        total += type == JFR_OUT_WALL_SAMPLE ? 1 : sample->count;
        uint32_t state = context_table_value(&profile->contexts, sample->context, LABEL_STATE);
        has_state = has_state || state != 0;
        lacks_state = lacks_state || state == 0;
    }
    /* A real state beside STATE_DEFAULT would make a wall clock sample of a CPU sample. */
    return total <= MOST_STANDARD_EVENTS && !(type == JFR_OUT_EXECUTION_SAMPLE && has_state && lacks_state);
}

static void plan_event(struct jfr_writer *writer, uint32_t number)
{
    static const char *const value_fields[] = {
        [UNIT_COUNT] = "value", [UNIT_NANOSECONDS] = "nanoseconds", [UNIT_BYTES] = "bytes"};
    const struct event *event = &writer->profile->events[number];
    struct text_view name = profile_text(writer->profile, event->name);
    for (size_t i = 0; i < COUNT_OF(standard_plans); i++) {
        if (text_equal(name, text_of(standard_plans[i].event)) && event->unit == standard_plans[i].unit &&
            fits_standard(writer, number, standard_plans[i].plan.type)) {
            writer->plans[number] = standard_plans[i].plan;
            return;
        }
    }
    writer->own[writer->own_count] = (struct jfr_own_type){name, value_fields[event->unit]};
    writer->plans[number] =
        (struct writing_plan){(enum jfr_out_type)(JFR_OUT_OWN + writer->own_count++), false, false};
}

static bool is_standard(const struct writing_plan *plan)
{
    return plan->type < JFR_OUT_OWN;
}

static void add_escaped(struct text_builder *out, struct text_view text, bool is_key)
{
    for (size_t i = 0; i < text.size; i++) {
        char byte = text.data[i];
        if (byte == '%' || byte == ';' || byte == '=' || (is_key && byte == ' '))
            text_builder_format(out, "%%%02X", (unsigned)(unsigned char)byte);
        else
            text_builder_add_byte(out, byte);
    }
}

/* Thread numbers that are none, and labels that no field has. */
static bool is_in_tag(const struct jfr_writer *writer, struct label label)
{
    uint64_t number;
    if (label.key == LABEL_THREAD_ID)
        return !text_to_u64(profile_text(writer->profile, label.value), &number) || number == 0;
    if (label.key == LABEL_THREAD || label.key == LABEL_STATE)
        return false;
    return !text_equal(profile_label_key_name(writer->profile, label.key), TEXT("allocation"));
}

/* The string of a context's labels; 0 when it has none. */
static uint64_t tag_of(struct jfr_writer *writer, uint32_t number)
{
    if (writer->context_tags[number] != 0)
        return writer->context_tags[number] - 1;
    struct context context = context_table_get(&writer->profile->contexts, number);
    text_builder_clear(&writer->tag);
    for (size_t i = 0; i < context.size; i++) {
        if (!is_in_tag(writer, context.labels[i]))
            continue;
        if (writer->tag.size > 0)
            text_builder_add_byte(&writer->tag, ';');
        add_escaped(&writer->tag, profile_label_key_name(writer->profile, context.labels[i].key), true);
        text_builder_add_byte(&writer->tag, '=');
        add_escaped(&writer->tag, profile_text(writer->profile, context.labels[i].value), false);
    }
    uint64_t tag =
        writer->tag.size == 0 ? 0 : jfr_constants_string(&writer->constants, text_builder_view(&writer->tag));
    writer->context_tags[number] = tag + 1;
    return tag;
}

static void put_event(struct jfr_writer *writer, enum jfr_out_type type)
{
    jfr_put_event(&writer->events, JFR_OUT_ID(type), text_builder_view(&writer->body));
}

static void close_run(struct jfr_writer *writer, const struct label_run *run, uint64_t thread)
{
    if (run->tag == 0)
        return;
    text_builder_clear(&writer->body);
    jfr_put_number(&writer->body, (uint64_t)run->first_tick);
    jfr_put_number(&writer->body, (uint64_t)(run->last_tick - run->first_tick));
    jfr_put_number(&writer->body, thread);
    jfr_put_number(&writer->body, run->tag);
    put_event(writer, JFR_OUT_SPAN);
}

static bool follow_run(struct jfr_writer *writer, uint64_t thread, uint64_t tag, int64_t tick)
{
    uint32_t *place = id_map_place(&writer->run_of_thread, thread);
    if (place == NULL)
        return false;
    if (*place == NO_ID) {
        if (!array_reserve(&writer->runs, &writer->run_capacity, writer->run_count + 1, MOST_RUNS)) {
            *place = 0;
            return false;
        }
        *place = (uint32_t)writer->run_count++;
        writer->runs[*place] = (struct label_run){tick, tick, tag};
        return true;
    }
    struct label_run *run = &writer->runs[*place];
    if (run->tag != tag) {
        close_run(writer, run, thread);
        *run = (struct label_run){tick, tick, tag};
    }
    run->last_tick = tick;
    return true;
}

static void close_runs(struct jfr_writer *writer)
{
    const struct id_map *map = &writer->run_of_thread;
    for (size_t i = 0; map->slots != NULL && i <= map->mask; i++)
        if (map->slots[i].value != NO_ID)
            close_run(writer, &writer->runs[map->slots[i].value], map->slots[i].key);
}

static enum jfr_out_type allocation_type(const struct jfr_writer *writer, uint32_t context)
{
    struct context labels = context_table_get(&writer->profile->contexts, context);
    for (size_t i = 0; i < labels.size; i++) {
        struct text_view value = profile_text(writer->profile, labels.labels[i].value);
        if (!text_equal(profile_label_key_name(writer->profile, labels.labels[i].key), TEXT("allocation")))
            continue;
        if (text_equal(value, TEXT("outside TLAB")))
            return JFR_OUT_ALLOCATION_OUTSIDE_TLAB;
        if (text_equal(value, TEXT("sampled")))
            return JFR_OUT_ALLOCATION_SAMPLE;
    }
    return JFR_OUT_ALLOCATION_IN_TLAB;
}

/* What all events of one sample have in common. */
struct numbers {
    enum jfr_out_type type;
    uint64_t tick;
    uint64_t thread;
    uint64_t trace;
    uint64_t state;
    uint64_t class;
};

static void put_allocation_fields(struct text_builder *body, enum jfr_out_type type,
                                  const struct numbers *numbers, uint64_t value)
{
    jfr_put_number(body, numbers->class);
    jfr_put_number(body, value);
    if (type == JFR_OUT_ALLOCATION_IN_TLAB)
        jfr_put_number(body, value);
    if (type == JFR_OUT_LIVE_OBJECT)
        jfr_put_number(body, numbers->tick);
}

static void put_lock_fields(struct text_builder *body, enum jfr_out_type type, const struct numbers *numbers)
{
    jfr_put_number(body, numbers->class);
    for (int zeros = type == JFR_OUT_THREAD_PARK ? 3 : 2; zeros > 0; zeros--)
        jfr_put_number(body, 0);
}

static void put_standard(struct jfr_writer *writer, const struct writing_plan *plan,
                         const struct numbers *numbers, uint64_t count, uint64_t value)
{
    struct text_builder *body = &writer->body;
    text_builder_clear(body);
    jfr_put_number(body, numbers->tick);
    if (plan->is_time)
        jfr_put_number(body, value);
    jfr_put_number(body, numbers->thread);
    jfr_put_number(body, numbers->trace);
    if (plan->has_class && !plan->is_time)
        put_allocation_fields(body, numbers->type, numbers, value);
    else if (plan->is_time)
        put_lock_fields(body, numbers->type, numbers);
    else
        jfr_put_number(body, numbers->state);
    if (numbers->type == JFR_OUT_WALL_SAMPLE)
        jfr_put_number(body, count);
    put_event(writer, numbers->type);
}

static void put_standard_sample(struct jfr_writer *writer, const struct writing_plan *plan,
                                const struct numbers *numbers, const struct sample *sample)
{
    uint64_t count = (uint64_t)sample->count, value = (uint64_t)sample->value;
    if (numbers->type == JFR_OUT_WALL_SAMPLE) {
        put_standard(writer, plan, numbers, count, value);
        return;
    }
    for (uint64_t i = 0; i < count; i++)
        put_standard(writer, plan, numbers, 1, value / count + (i < value % count));
}

static void put_own_sample(struct jfr_writer *writer, const struct numbers *numbers,
                           const struct sample *sample)
{
    struct text_builder *body = &writer->body;
    text_builder_clear(body);
    jfr_put_number(body, numbers->tick);
    jfr_put_number(body, numbers->thread);
    jfr_put_number(body, numbers->trace);
    jfr_put_number(body, numbers->state);
    jfr_put_double(body, sample->count);
    jfr_put_double(body, sample->value);
    put_event(writer, numbers->type);
}

static uint64_t state_number(struct jfr_writer *writer, const struct sample *sample, enum jfr_out_type type)
{
    uint32_t state = context_table_value(&writer->profile->contexts, sample->context, LABEL_STATE);
    if (state != 0)
        return jfr_constants_state(&writer->constants, state);
    if (type != JFR_OUT_EXECUTION_SAMPLE)
        return JFR_STATE_NONE;
    writer->uses_default_state = true;
    return JFR_STATE_DEFAULT;
}

static bool put_sample(struct jfr_writer *writer, const struct sample *sample, int64_t tick)
{
    const struct profile *profile = writer->profile;
    const struct writing_plan *plan = &writer->plans[sample->event];
    struct numbers numbers = {.type = plan->type, .tick = (uint64_t)tick};
    uint32_t stack = sample->stack;
    const struct frame *innermost =
        stack == STACK_ROOT ? NULL : &profile->frames.frames[profile->stacks.nodes[stack].frame];
    if (plan->type == JFR_OUT_ALLOCATION_IN_TLAB)
        numbers.type = allocation_type(writer, sample->context);
    if (plan->has_class && innermost != NULL && innermost->kind == FRAME_CLASS) {
        numbers.class = jfr_constants_class(&writer->constants, profile_text(profile, innermost->name));
        stack = profile->stacks.nodes[stack].parent;
    }
    numbers.trace = jfr_constants_trace(&writer->constants, stack);
    numbers.thread = jfr_constants_thread(
        &writer->constants, context_table_value(&profile->contexts, sample->context, LABEL_THREAD),
        context_table_value(&profile->contexts, sample->context, LABEL_THREAD_ID));
    numbers.state = state_number(writer, sample, plan->type);
    if (!follow_run(writer, numbers.thread, tag_of(writer, sample->context), tick))
        return false;
    if (is_standard(plan))
        put_standard_sample(writer, plan, &numbers, sample);
    else
        put_own_sample(writer, &numbers, sample);
    return true;
}

static int compare_samples(const void *left, const void *right, void *context)
{
    const struct profile *profile = context;
    const struct sample *a = &profile->samples[*(const uint32_t *)left];
    const struct sample *b = &profile->samples[*(const uint32_t *)right];
    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns ? -1 : 1;
    if (a->context != b->context)
        return a->context < b->context ? -1 : 1;
    return *(const uint32_t *)left < *(const uint32_t *)right ? -1 : 1;
}

static bool sort_samples(struct jfr_writer *writer)
{
    const struct profile *profile = writer->profile;
    writer->order = malloc((profile->sample_count + 1) * sizeof(*writer->order));
    writer->context_tags = calloc(profile->contexts.size + 1, sizeof(*writer->context_tags));
    if (writer->order == NULL || writer->context_tags == NULL)
        return false;
    for (size_t i = 0; i < profile->sample_count; i++)
        writer->order[i] = (uint32_t)i;
    qsort_r(writer->order, profile->sample_count, sizeof(*writer->order), compare_samples, (void *)profile);
    return true;
}

/* The first known time; samples without one come before all others in order. */
static void find_start(struct jfr_writer *writer)
{
    const struct profile *profile = writer->profile;
    int64_t start_ns = profile->start_ns == NO_TIME ? INT64_MAX : profile->start_ns;
    for (size_t i = 0; i < profile->sample_count; i++)
        if (profile->samples[i].time_ns != NO_TIME && profile->samples[i].time_ns < start_ns)
            start_ns = profile->samples[i].time_ns;
    writer->start_ns = start_ns == INT64_MAX ? 0 : start_ns;
}

static bool put_samples(struct jfr_writer *writer, int64_t *last_tick)
{
    const struct profile *profile = writer->profile;
    *last_tick = 0;
    for (size_t i = 0; i < profile->sample_count; i++) {
        const struct sample *sample = &profile->samples[writer->order[i]];
        int64_t tick = sample->time_ns == NO_TIME ? (int64_t)i : sample->time_ns - writer->start_ns;
        if (!put_sample(writer, sample, tick))
            return false;
        *last_tick = tick > *last_tick ? tick : *last_tick;
    }
    close_runs(writer);
    return true;
}

static void put_fixed(struct text_builder *out, uint64_t value)
{
    uint64_t swapped = __builtin_bswap64(value);
    text_builder_add(out, (struct text_view){(const char *)&swapped, sizeof(swapped)});
}

static void put_header(struct text_builder *out, const struct jfr_writer *writer, uint64_t size,
                       uint64_t pool_offset, uint64_t duration_ns)
{
    text_builder_add(out, (struct text_view){"FLR\0\0\2\0\1", 8});
    put_fixed(out, size);
    put_fixed(out, pool_offset);
    put_fixed(out, JFR_HEADER_BYTES); /* metadata come first */
    put_fixed(out, (uint64_t)writer->start_ns);
    put_fixed(out, duration_ns);
    put_fixed(out, 0);
    put_fixed(out, 1000000000);
    text_builder_add(out, (struct text_view){"\0\0\0\1", 4});
}

static bool write_chunk(struct jfr_writer *writer, struct output *output, struct error *error)
{
    struct text_builder head, metadata, constants;
    int64_t last_tick = 0;
    text_builder_init(&head, EVENTS_LIMIT_BYTES);
    text_builder_init(&metadata, EVENTS_LIMIT_BYTES);
    text_builder_init(&constants, EVENTS_LIMIT_BYTES);
    bool good = put_samples(writer, &last_tick);
    jfr_put_metadata(&metadata, writer->own, writer->own_count);
    jfr_constants_put(&writer->constants, writer->uses_default_state, &constants);
    int64_t end_ns = writer->profile->end_ns == NO_TIME ? 0 : writer->profile->end_ns - writer->start_ns;
    uint64_t pool_offset = JFR_HEADER_BYTES + metadata.size + writer->events.size;
    put_header(&head, writer, pool_offset + constants.size, pool_offset,
               (uint64_t)(end_ns > last_tick ? end_ns : last_tick));
    good = good && !head.failed && !metadata.failed && !constants.failed && !writer->events.failed &&
           !writer->body.failed && !writer->constants.failed;
    if (good) {
        output_text(output, text_builder_view(&head));
        output_text(output, text_builder_view(&metadata));
        output_text(output, text_builder_view(&writer->events));
        output_text(output, text_builder_view(&constants));
    }
    text_builder_release(&head);
    text_builder_release(&metadata);
    text_builder_release(&constants);
    return good ||
           error_set(error, ERROR_MEMORY, "the profile is too large for one JFR chunk, or memory is short");
}

static bool write_jfr(const struct profile *profile, const struct write_options *options,
                      struct output *output, struct error *error)
{
    (void)options;
    struct jfr_writer writer = {.profile = profile};
    text_builder_init(&writer.events, EVENTS_LIMIT_BYTES);
    text_builder_init(&writer.body, EVENTS_LIMIT_BYTES);
    text_builder_init(&writer.tag, EVENTS_LIMIT_BYTES);
    id_map_init(&writer.run_of_thread);
    bool good = jfr_constants_init(&writer.constants, profile) && sort_samples(&writer);
    for (uint32_t i = 0; good && i < profile->event_count; i++)
        plan_event(&writer, i);
    find_start(&writer);
    good = good ? write_chunk(&writer, output, error) : error_set_memory(error);
    jfr_constants_release(&writer.constants);
    id_map_release(&writer.run_of_thread);
    text_builder_release(&writer.events);
    text_builder_release(&writer.body);
    text_builder_release(&writer.tag);
    free(writer.order);
    free(writer.context_tags);
    free(writer.runs);
    return good;
}

const struct writer writer_jfr = {
    .name = "jfr",
    .summary = "Java Flight Recorder, for JDK Mission Control, jfr, IntelliJ and async-profiler's converter",
    .extensions = "jfr",
    .holds_times = true,
    .holds_labels = true,
    .holds_lines = true,
    .holds_kinds = true,
    .write = write_jfr,
};
