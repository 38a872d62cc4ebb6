#include "formats/jfr/jfr_samples.h"

#include <inttypes.h>
#include <string.h>

#define NO_STATE UINT64_C(0xff)

bool jfr_samples_init(struct jfr_samples *samples, struct profile *profile, struct jfr_stacks *stacks,
                      const struct read_options *options, const struct jfr_survey *survey,
                      struct error *error)
{
    *samples = (struct jfr_samples){.profile = profile, .options = options, .survey = survey};
    memset(samples->first_places, 0xff, sizeof(samples->first_places));
    id_map_init(&samples->contexts);
    jfr_traces_init(&samples->traces, &samples->names);
    return jfr_names_init(&samples->names, profile, stacks, options, error);
}

void jfr_samples_release(struct jfr_samples *samples)
{
    jfr_traces_release(&samples->traces);
    jfr_names_release(&samples->names);
    id_map_release(&samples->contexts);
}

/* async-profiler marks what its CPU engines saw with STATE_DEFAULT, and its wall clock engine gives real states; older
 * versions know no such mark, but say in a setting what they sample by. The JDK samples running threads only. */
static bool is_wall_sample(struct jfr_samples *samples, uint64_t state)
{
    if (!samples->names.has_default_state)
        return samples->is_wall_recording;
    struct text_view name = jfr_names_text(&samples->names, JFR_POOL_THREAD_STATE, state);
    return !text_equal(name, TEXT("STATE_DEFAULT"));
}

static struct text_view event_name(struct jfr_samples *samples, const struct jfr_event_values *values)
{
    const struct jfr_event_plan *plan = values->plan;
    if (plan->role == JFR_ROLE_CPU_OR_WALL && is_wall_sample(samples, values->slots[JFR_EVENT_STATE]))
        return TEXT("wall");
    if (plan->role == JFR_ROLE_ALLOCATION_SAMPLE && samples->survey->has_tlab_events)
        return TEXT("alloc-sample");
    return plan->event;
}

static void take_setting(struct jfr_samples *samples, const uint64_t *slots)
{
    if (slots[JFR_EVENT_TEXT] == 0 || slots[JFR_EVENT_VALUE] == 0 ||
        !text_equal(jfr_names_string_at(&samples->names, slots[JFR_EVENT_TEXT]), TEXT("event")))
        return;
    struct text_view value = jfr_names_string_at(&samples->names, slots[JFR_EVENT_VALUE]);
    samples->is_wall_recording = text_equal(value, TEXT("wall"));
}

static uint32_t make_context(struct jfr_samples *samples, const struct jfr_event_values *values,
                             uint32_t thread, uint32_t span)
{
    struct jfr_names *names = &samples->names;
    struct profile *profile = samples->profile;
    struct label labels[LABEL_KEY_LIMIT];
    size_t count = 0;
    labels[count++] = (struct label){LABEL_THREAD, names->thread_list[thread].name};
    labels[count++] = (struct label){LABEL_THREAD_ID, names->thread_list[thread].id};
    if (values->plan->has_state)
        labels[count++] = (struct label){LABEL_STATE, jfr_names_state(names, values->slots[JFR_EVENT_STATE])};
    if (values->plan->allocation.size > 0)
        labels[count++] = (struct label){profile_label_key(profile, TEXT("allocation")),
                                         profile_string(profile, values->plan->allocation)};
    for (size_t i = 0; i < count; i++)
        if (labels[i].value == NO_STRING || labels[i].key == LABEL_KEY_LIMIT)
            return NO_CONTEXT;
    struct text_view text = string_table_text(&samples->survey->spans.texts, span);
    if (!jfr_spans_labels(samples->labels, profile, labels, &count) ||
        !jfr_spans_labels(jfr_details_find(&samples->survey->details, text), profile, labels, &count))
        return NO_CONTEXT;
    if (span != JFR_NO_SPAN && !jfr_spans_labels(text, profile, labels, &count))
        return NO_CONTEXT;
    return context_table_add(&profile->contexts, labels, count);
}

static uint32_t find_span(const struct jfr_samples *samples, const struct jfr_event_values *values,
                          uint32_t thread)
{
    if (samples->survey->spans.size == 0)
        return JFR_NO_SPAN;
    int64_t time_ns = jfr_chunk_time_ns(samples->names.chunk, values->slots[JFR_EVENT_TIME]);
    return jfr_spans_find(&samples->survey->spans, samples->names.thread_list[thread].key, time_ns);
}

static uint32_t find_context(struct jfr_samples *samples, const struct jfr_event_values *values)
{
    if (!samples->options->needs_contexts)
        return 0;
    uint32_t thread = jfr_names_thread(&samples->names, values->slots[JFR_EVENT_THREAD]);
    if (thread == NO_ID)
        return NO_CONTEXT;
    uint32_t span = find_span(samples, values, thread);
    uint64_t state = values->plan->has_state ? values->slots[JFR_EVENT_STATE] : NO_STATE;
    if (state > NO_STATE || thread >> 24 != 0 || span >> 24 != 0)
        return make_context(samples, values, thread, span);
    uint64_t allocation = values->plan->allocation.size; /* the three texts differ in length */
    uint64_t key = (uint64_t)span << 40 | (uint64_t)thread << 16 | allocation << 8 | state;
    uint32_t *place = id_map_place(&samples->contexts, key);
    if (place == NULL)
        return NO_CONTEXT;
    if (*place == NO_ID) {
        uint32_t context = make_context(samples, values, thread, span);
        *place = context == NO_CONTEXT ? 0 : context;
        return context;
    }
    return *place;
}

static double double_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

static double value_of(const struct jfr_samples *samples, const struct jfr_event_values *values, double count)
{
    const struct jfr_event_plan *plan = values->plan;
    uint64_t bits = values->slots[JFR_EVENT_VALUE];
    if (!plan->has_value)
        return count;
    if (plan->value_is_ticks)
        return (double)(int64_t)((double)(int64_t)bits * samples->names.chunk->ns_per_tick);
    if (plan->value_is_double)
        return double_of(bits);
    return (double)(int64_t)bits;
}

static uint64_t class_of(struct jfr_samples *samples, const struct jfr_event_values *values)
{
    uint64_t class = values->slots[JFR_EVENT_CLASS];
    if (values->plan->role != JFR_ROLE_OLD_OBJECT)
        return class;
    uint64_t slots[JFR_CONSTANT_SLOTS] = {0};
    struct jfr_cursor cursor = jfr_chunk_constant(samples->names.chunk, JFR_POOL_OLD_OBJECT, class);
    if (cursor.failed || samples->names.schema->pools[JFR_POOL_OLD_OBJECT] == NULL)
        return 0;
    jfr_layout_read(samples->names.schema->pools[JFR_POOL_OLD_OBJECT], &cursor, slots);
    return slots[JFR_OLD_OBJECT_CLASS];
}

/* The stack with the class that was allocated or locked as its innermost frame. */
static bool add_class(struct jfr_samples *samples, struct jfr_event_values *values, struct error *error)
{
    struct stack_list *list = &samples->names.stacks->list;
    if (values->stack == NO_STACK)
        return true;
    uint64_t class = values->plan->has_class ? class_of(samples, values) : 0;
    if (class == 0) {
        if (list->stacks[values->stack].size == 0)
            values->stack = NO_STACK;
        return true;
    }
    uint32_t frame = jfr_names_class(&samples->names, class);
    values->stack = frame == NO_FRAME ? NO_STACK : stack_list_add_leaf(list, values->stack, frame);
    return values->stack != NO_STACK || error_set_memory(error);
}

static void note_event(struct jfr_samples *samples, uint32_t event)
{
    uint64_t place = (samples->chunk_number << 36) + samples->lookups++;
    if (event < EVENT_LIMIT && place < samples->first_places[event])
        samples->first_places[event] = place;
}

static uint32_t find_event(struct jfr_samples *samples, const struct jfr_event_values *values)
{
    const struct jfr_event_plan *plan = values->plan;
    if (plan != samples->last_plan || values->event.data != samples->last_event.data) {
        samples->last_plan = plan;
        samples->last_event = values->event;
        samples->last_event_number =
            profile_event(samples->profile, values->event, plan->unit, plan->unit != UNIT_COUNT);
        note_event(samples, samples->last_event_number);
    }
    return samples->last_event_number;
}

static struct sample make_sample(struct jfr_samples *samples, const struct jfr_event_values *values)
{
    const struct jfr_event_plan *plan = values->plan;
    struct sample sample = {.stack = values->stack, .time_ns = NO_TIME, .count = 1};
    sample.event = find_event(samples, values);
    sample.context = find_context(samples, values);
    if (samples->profile->keep_times)
        sample.time_ns = jfr_chunk_time_ns(samples->names.chunk, values->slots[JFR_EVENT_TIME]);
    if (plan->has_count)
        sample.count = plan->count_is_double ? double_of(values->slots[JFR_EVENT_COUNT])
                                             : (double)values->slots[JFR_EVENT_COUNT];
    sample.value = value_of(samples, values, sample.count);
    return sample;
}

/* Each step for all events before the next one: each step prefetches what the next one reads. */
static bool add_samples(struct jfr_samples *samples, struct error *error)
{
    struct jfr_event_values *batch = samples->batch;
    struct sample made[JFR_BATCH_EVENTS];
    size_t count = 0;
    for (size_t i = 0; i < samples->batch_size; i++) {
        if (!add_class(samples, &batch[i], error))
            return false;
        if (batch[i].stack == NO_STACK) {
            samples->without_stack += batch[i].plan->is_known;
            continue;
        }
        made[count] = make_sample(samples, &batch[i]);
        profile_prefetch_slot(samples->profile, &made[count++]);
    }
    for (size_t i = 0; i < count; i++)
        profile_prefetch_sample(samples->profile, &made[i]);
    for (size_t i = 0; i < count; i++)
        if (!profile_add_sample(samples->profile, &made[i]))
            return error_set_memory(error);
    return true;
}

/* Adds the samples of the batch. */
static bool flush(struct jfr_samples *samples, struct error *error)
{
    struct jfr_stacks *stacks = samples->names.stacks;
    for (size_t i = 0; i < samples->batch_size; i++)
        samples->batch[i].stack =
            jfr_traces_stack(&samples->traces, samples->batch[i].slots[JFR_EVENT_STACK]);
    jfr_stacks_lock(stacks);
    for (size_t i = 0; i < samples->batch_size; i++)
        if (samples->batch[i].stack != NO_STACK)
            __builtin_prefetch(&stacks->list.stacks[samples->batch[i].stack]);
    for (size_t i = 0; i < samples->batch_size; i++)
        if (samples->batch[i].stack != NO_STACK)
            stack_list_prefetch_leaf(&stacks->list, samples->batch[i].stack);
    bool good = add_samples(samples, error);
    jfr_stacks_unlock(stacks);
    samples->batch_size = 0;
    return good;
}

static bool ask(struct jfr_samples *samples, struct error *error)
{
    uint64_t ids[JFR_BATCH_EVENTS];
    for (size_t i = 0; i < samples->batch_size; i++)
        ids[i] = samples->batch[i].slots[JFR_EVENT_STACK];
    bool good = jfr_traces_ask(&samples->traces, ids, samples->batch_size);
    samples->batch_size = 0;
    return good || error_set_memory(error);
}

/* Names an event that is not wanted, once for each chunk. */
static void pass_event(struct jfr_samples *samples, size_t number, struct text_view name)
{
    if (LIKELY(samples->met_other[number]))
        return;
    samples->met_other[number] = true;
    jfr_stacks_lock(samples->names.stacks);
    reader_pass_event(samples->options, name);
    jfr_stacks_unlock(samples->names.stacks);
}

/* Appends the event to the batch, if it becomes a sample. */
static bool add_event(struct jfr_samples *samples, const struct jfr_event_plan *plan, struct jfr_cursor *body,
                      size_t at, struct error *error)
{
    struct jfr_event_values *values = &samples->batch[samples->batch_size];
    if (plan->role == JFR_ROLE_SPAN || plan->role == JFR_ROLE_LABELS || plan->role == JFR_ROLE_DETAILS)
        return true;
    if (plan->role == JFR_ROLE_OTHER) {
        pass_event(samples, plan->other_number, plan->event);
        return true;
    }
    *values = (struct jfr_event_values){.plan = plan};
    jfr_layout_read(plan->layout, body, values->slots);
    if (body->failed)
        return error_set(error, ERROR_BAD_INPUT, "chunk offset %zu: an event is shorter than its fields", at);
    if (plan->role == JFR_ROLE_SETTING) {
        take_setting(samples, values->slots);
        return true;
    }
    if (plan->role == JFR_ROLE_RECORDING_LABELS) {
        samples->labels = jfr_names_string_at(&samples->names, values->slots[JFR_EVENT_TEXT]);
        return true;
    }
    values->event = event_name(samples, values);
    if (samples->options->event.size == 0 || text_equal(values->event, samples->options->event)) {
        id_map_prefetch(&samples->traces.numbers, values->slots[JFR_EVENT_STACK]);
        samples->batch_size++;
    } else {
        pass_event(samples, JFR_OTHER_LIMIT, values->event);
    }
    return true;
}

typedef bool use_batch_function(struct jfr_samples *samples, struct error *error);

/* Passes all events that become samples to the function, in batches. */
static bool each_batch(struct jfr_samples *samples, use_batch_function *use, struct error *error)
{
    const struct jfr_chunk *chunk = samples->names.chunk;
    size_t position = JFR_HEADER_BYTES, at = position;
    struct jfr_event event;
    bool good = true;
    samples->is_wall_recording = false;
    samples->batch_size = 0;
    for (; good && jfr_chunk_next(chunk, &position, &event); at = position) {
        const struct jfr_event_plan *plan = jfr_schema_plan(samples->names.schema, event.type);
        good = plan == NULL || add_event(samples, plan, &event.body, at, error);
        if (good && samples->batch_size == JFR_BATCH_EVENTS)
            good = use(samples, error);
    }
    struct error later;
    return use(samples, good ? error : &later) && good;
}

bool jfr_samples_add(struct jfr_samples *samples, const struct jfr_chunk *chunk,
                     const struct jfr_schema *schema, struct error *error)
{
    struct error later;
    samples->labels = TEXT(""); /* found while traces are asked for, wherever they stand */
    samples->last_plan = NULL;
    memset(samples->met_other, 0, sizeof(samples->met_other));
    id_map_clear(&samples->contexts);
    jfr_names_begin(&samples->names, chunk, schema);
    jfr_traces_begin(&samples->traces);
    bool good = each_batch(samples, ask, error);
    good = jfr_traces_read(&samples->traces, good ? error : &later) && good;
    return each_batch(samples, flush, good ? error : &later) && good;
}
