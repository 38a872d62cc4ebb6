/*
 * speedscope's JSON: shared frames and several profiles, either "sampled" (stacks with weights) or "evented" (frames
 * that open and close).
 *
 * The frames may stand after the profiles that use them, so stacks are first kept with the file's frame indexes.
 */
#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "input/json_reader.h"
#include "formats/reader.h"

#define TEXT_LIMIT_BYTES ((size_t)16 << 20)
#define ITEM_LIMIT ((size_t)1 << 31)

/* A stack and how long it was there. */
struct speedscope_item {
    uint32_t node;
    double weight;
    double at;
};

/* The profile object that is being read. */
struct speedscope_part {
    uint32_t name; /* string number */
    bool is_evented;
    bool has_weights;
    enum event_unit unit;
    double factor;
    double start;
    double end;
    size_t item_count;
    size_t weight_count;
    uint32_t open_node; /* evented: the stack now */
    double last_at;
    size_t event_count;
};

struct speedscope_reading {
    const struct read_options *options;
    struct profile *profile;
    struct json_reader json;
    struct stack_tree raw_stacks;
    uint32_t *frames; /* of the profile, by the file's index */
    size_t frame_count, frame_capacity;
    struct speedscope_item *items; /* of the present part */
    size_t item_capacity;
    struct sample *pending; /* they wait for the frames; stacks are those of raw_stacks */
    size_t pending_count, pending_capacity;
    bool is_ours; /* profiles are named "event" or "event: thread" */
    bool has_unclosed;
};

static bool fail(struct speedscope_reading *reading, const char *what, struct error *error)
{
    return json_reader_fail(&reading->json, error, what);
}

static bool read_number(struct speedscope_reading *reading, double *number, struct error *error)
{
    if (!json_reader_expect(&reading->json, JSON_NUMBER, "a number", error))
        return false;
    *number = reading->json.number;
    return isfinite(*number) || fail(reading, "a number that is not finite", error);
}

static bool read_index(struct speedscope_reading *reading, uint32_t *index, struct error *error)
{
    if (!json_reader_expect(&reading->json, JSON_NUMBER, "the index of a frame", error))
        return false;
    if (!reading->json.is_integer || reading->json.integer < 0 || reading->json.integer >= NO_FRAME)
        return fail(reading, "an impossible index of a frame", error);
    *index = (uint32_t)reading->json.integer;
    return true;
}

/* Anything but a text says nothing. */
static bool read_string(struct speedscope_reading *reading, uint32_t *string, struct error *error)
{
    enum json_token token = json_reader_next(&reading->json, error);
    if (token != JSON_TEXT)
        return json_reader_skip(&reading->json, token, error);
    *string = profile_string(reading->profile, reading->json.text);
    return *string != NO_STRING || error_set_memory(error);
}

static bool read_line_number(struct speedscope_reading *reading, uint32_t *line, struct error *error)
{
    enum json_token token = json_reader_next(&reading->json, error);
    if (token == JSON_NUMBER && reading->json.number >= 0 && reading->json.number <= UINT32_MAX)
        *line = (uint32_t)reading->json.number;
    return json_reader_skip(&reading->json, token, error);
}

static bool read_frame(struct speedscope_reading *reading, struct error *error)
{
    struct frame frame = {.name = 0};
    enum json_token token;
    while ((token = json_reader_next(&reading->json, error)) == JSON_KEY) {
        bool good;
        if (text_equal(reading->json.text, TEXT("name")))
            good = read_string(reading, &frame.name, error);
        else if (text_equal(reading->json.text, TEXT("file")))
            good = read_string(reading, &frame.file, error);
        else if (text_equal(reading->json.text, TEXT("line")))
            good = read_line_number(reading, &frame.line, error);
        else
            good = json_reader_skip_next(&reading->json, error);
        if (!good)
            return false;
    }
    if (token == JSON_FAILED)
        return false;
    if (text_ends_with(profile_text(reading->profile, frame.file), TEXT(".py")))
        frame.kind = FRAME_PYTHON;
    else if (!reading->options->needs_lines)
        frame.file = 0;
    if (!reading->options->needs_lines)
        frame.line = 0;
    uint32_t number = frame_table_add(&reading->profile->frames, frame);
    if (number == NO_FRAME ||
        !array_reserve(&reading->frames, &reading->frame_capacity, reading->frame_count + 1, ITEM_LIMIT))
        return error_set_memory(error);
    reading->frames[reading->frame_count++] = number;
    return true;
}

static bool read_frames(struct speedscope_reading *reading, struct error *error)
{
    if (!json_reader_expect(&reading->json, JSON_ARRAY_BEGIN, "the list of frames", error))
        return false;
    enum json_token token;
    while ((token = json_reader_next(&reading->json, error)) == JSON_OBJECT_BEGIN)
        if (!read_frame(reading, error))
            return false;
    return token == JSON_ARRAY_END || (token != JSON_FAILED && fail(reading, "expected a frame", error));
}

static bool read_shared(struct speedscope_reading *reading, struct error *error)
{
    if (!json_reader_expect(&reading->json, JSON_OBJECT_BEGIN, "an object", error))
        return false;
    enum json_token token;
    while ((token = json_reader_next(&reading->json, error)) == JSON_KEY) {
        bool is_frames = text_equal(reading->json.text, TEXT("frames"));
        if (is_frames ? !read_frames(reading, error) : !json_reader_skip_next(&reading->json, error))
            return false;
    }
    return token == JSON_OBJECT_END;
}

static bool add_item(struct speedscope_reading *reading, struct speedscope_part *part,
                     struct speedscope_item item, struct error *error)
{
    if (!array_reserve(&reading->items, &reading->item_capacity, part->item_count + 1, ITEM_LIMIT))
        return error_set_memory(error);
    reading->items[part->item_count++] = item;
    return true;
}

static bool read_stack(struct speedscope_reading *reading, uint32_t *node, struct error *error)
{
    *node = STACK_ROOT;
    size_t depth = 0;
    enum json_token token;
    while ((token = json_reader_next(&reading->json, error)) == JSON_NUMBER) {
        if (!reading->json.is_integer || reading->json.integer < 0 || reading->json.integer >= NO_FRAME)
            return fail(reading, "an impossible index of a frame", error);
        if (depth++ >= READER_DEPTH_LIMIT)
            continue;
        *node = stack_tree_child(&reading->raw_stacks, *node, (uint32_t)reading->json.integer);
        if (*node == NO_STACK)
            return error_set_memory(error);
    }
    return token == JSON_ARRAY_END ||
           (token != JSON_FAILED && fail(reading, "expected the index of a frame", error));
}

/* Weights may come before or after; each fills its half of the items. */
static bool read_samples(struct speedscope_reading *reading, struct speedscope_part *part,
                         struct error *error)
{
    if (!json_reader_expect(&reading->json, JSON_ARRAY_BEGIN, "the list of samples", error))
        return false;
    size_t count = 0;
    enum json_token token;
    while ((token = json_reader_next(&reading->json, error)) == JSON_ARRAY_BEGIN) {
        uint32_t node;
        if (!read_stack(reading, &node, error))
            return false;
        if (count == part->item_count &&
            !add_item(reading, part, (struct speedscope_item){.weight = 1}, error))
            return false;
        reading->items[count++].node = node;
    }
    if (token == JSON_FAILED)
        return false;
    return token == JSON_ARRAY_END || fail(reading, "expected a stack", error);
}

static bool read_weights(struct speedscope_reading *reading, struct speedscope_part *part,
                         struct error *error)
{
    if (!json_reader_expect(&reading->json, JSON_ARRAY_BEGIN, "the list of weights", error))
        return false;
    part->has_weights = true;
    enum json_token token;
    while ((token = json_reader_next(&reading->json, error)) == JSON_NUMBER) {
        if (!isfinite(reading->json.number))
            return fail(reading, "a weight that is not finite", error);
        double weight = reading->json.number;
        if (part->weight_count == part->item_count &&
            !add_item(reading, part, (struct speedscope_item){.node = STACK_ROOT}, error))
            return false;
        reading->items[part->weight_count++].weight = weight;
    }
    if (token == JSON_FAILED)
        return false;
    return token == JSON_ARRAY_END || fail(reading, "expected a weight", error);
}

struct change {
    bool opens;
    bool closes;
    uint32_t frame;
    double at;
};

static bool read_change(struct speedscope_reading *reading, struct change *change, struct error *error)
{
    *change = (struct change){.frame = NO_FRAME, .at = NAN};
    enum json_token token;
    while ((token = json_reader_next(&reading->json, error)) == JSON_KEY) {
        bool good = true;
        if (text_equal(reading->json.text, TEXT("type"))) {
            good = json_reader_expect(&reading->json, JSON_TEXT, "\"O\" or \"C\"", error);
            change->opens = good && text_equal(reading->json.text, TEXT("O"));
            change->closes = good && text_equal(reading->json.text, TEXT("C"));
        } else if (text_equal(reading->json.text, TEXT("frame"))) {
            good = read_index(reading, &change->frame, error);
        } else if (text_equal(reading->json.text, TEXT("at"))) {
            good = read_number(reading, &change->at, error);
        } else {
            good = json_reader_skip_next(&reading->json, error);
        }
        if (!good)
            return false;
    }
    if (token == JSON_FAILED)
        return false;
    bool whole = (change->opens || change->closes) && change->frame != NO_FRAME && !isnan(change->at);
    return whole || fail(reading, "an event without type, frame or time", error);
}

/* The time up to now belongs to the stack that was open until now. */
static bool pass_time(struct speedscope_reading *reading, struct speedscope_part *part, double at,
                      struct error *error)
{
    double passed = at - part->last_at;
    if (part->event_count++ > 0 && passed < 0)
        return fail(reading, "events that go back in time", error);
    if (part->open_node != STACK_ROOT && passed > 0 &&
        !add_item(reading, part, (struct speedscope_item){part->open_node, passed, part->last_at}, error))
        return false;
    part->last_at = at;
    return true;
}

static bool apply_change(struct speedscope_reading *reading, struct speedscope_part *part,
                         const struct change *change, struct error *error)
{
    if (!pass_time(reading, part, change->at, error))
        return false;
    struct stack_tree *stacks = &reading->raw_stacks;
    if (change->opens) {
        part->open_node = stack_tree_child(stacks, part->open_node, change->frame);
        return part->open_node != NO_STACK || error_set_memory(error);
    }
    if (part->open_node == STACK_ROOT || stacks->nodes[part->open_node].frame != change->frame)
        return fail(reading, "a frame closes that was not the last to open", error);
    part->open_node = stacks->nodes[part->open_node].parent;
    return true;
}

static bool read_events(struct speedscope_reading *reading, struct speedscope_part *part, struct error *error)
{
    if (!json_reader_expect(&reading->json, JSON_ARRAY_BEGIN, "the list of events", error))
        return false;
    part->is_evented = true;
    enum json_token token;
    while ((token = json_reader_next(&reading->json, error)) == JSON_OBJECT_BEGIN) {
        struct change change;
        if (!read_change(reading, &change, error) || !apply_change(reading, part, &change, error))
            return false;
    }
    if (token == JSON_FAILED)
        return false;
    return token == JSON_ARRAY_END || fail(reading, "expected an event", error);
}

static bool read_unit(struct speedscope_reading *reading, struct speedscope_part *part, struct error *error)
{
    static const struct {
        const char *name;
        enum event_unit unit;
        double factor;
    } units[] = {
        {"none", UNIT_COUNT, 1},
        {"nanoseconds", UNIT_NANOSECONDS, 1},
        {"microseconds", UNIT_NANOSECONDS, 1e3},
        {"milliseconds", UNIT_NANOSECONDS, 1e6},
        {"seconds", UNIT_NANOSECONDS, 1e9},
        {"bytes", UNIT_BYTES, 1},
    };
    if (!json_reader_expect(&reading->json, JSON_TEXT, "a unit", error))
        return false;
    for (size_t i = 0; i < COUNT_OF(units); i++) {
        if (text_equal(reading->json.text, text_of(units[i].name))) {
            part->unit = units[i].unit;
            part->factor = units[i].factor;
            return true;
        }
    }
    return fail(reading, "an unknown unit", error);
}

static bool read_part_member(struct speedscope_reading *reading, struct speedscope_part *part,
                             struct error *error)
{
    struct text_view key = reading->json.text;
    if (text_equal(key, TEXT("name")))
        return read_string(reading, &part->name, error);
    if (text_equal(key, TEXT("unit")))
        return read_unit(reading, part, error);
    if (text_equal(key, TEXT("startValue")))
        return read_number(reading, &part->start, error);
    if (text_equal(key, TEXT("endValue")))
        return read_number(reading, &part->end, error);
    if (text_equal(key, TEXT("samples")))
        return read_samples(reading, part, error);
    if (text_equal(key, TEXT("weights")))
        return read_weights(reading, part, error);
    if (text_equal(key, TEXT("events")))
        return read_events(reading, part, error);
    return json_reader_skip_next(&reading->json, error);
}

static bool close_part(struct speedscope_reading *reading, struct speedscope_part *part, struct error *error)
{
    if (part->is_evented) {
        reading->has_unclosed = reading->has_unclosed || part->open_node != STACK_ROOT;
        return part->open_node == STACK_ROOT || part->end < part->last_at ||
               pass_time(reading, part, part->end, error);
    }
    if (part->has_weights && part->weight_count != part->item_count)
        return fail(reading, "a profile with as many weights as samples is needed", error);
    double at = part->start;
    for (size_t i = 0; i < part->item_count; i++) {
        reading->items[i].at = at;
        at += reading->items[i].weight;
    }
    return true;
}

static int compare_items(const void *left, const void *right)
{
    uint32_t left_node = ((const struct speedscope_item *)left)->node,
             right_node = ((const struct speedscope_item *)right)->node;
    return left_node < right_node ? -1 : left_node > right_node;
}

/* The event and thread that a profile of ours is named after; of others the name is taken for the thread's. */
static bool name_event(struct speedscope_reading *reading, const struct speedscope_part *part,
                       struct sample *sample, struct error *error)
{
    struct profile *profile = reading->profile;
    struct text_view thread = profile_text(profile, part->name);
    struct text_view event = part->unit == UNIT_BYTES ? TEXT("alloc") : TEXT("samples");
    if (reading->is_ours) {
        size_t colon = text_find(thread, TEXT(": "));
        event = text_part(thread, 0, colon);
        thread = text_from(thread, colon == TEXT_NOT_FOUND ? thread.size : colon + 2);
    }
    sample->event = profile_event(profile, event, part->unit, part->unit != UNIT_COUNT);
    if (sample->event == EVENT_LIMIT)
        return error_set(error, ERROR_MEMORY, "too many events");
    struct label label = {LABEL_THREAD, profile_string(profile, thread)};
    if (label.value == NO_STRING)
        return error_set_memory(error);
    sample->context = reading->options->needs_contexts ? context_table_add(&profile->contexts, &label, 1) : 0;
    return sample->context != NO_CONTEXT || error_set_memory(error);
}

static bool add_pending(struct speedscope_reading *reading, const struct sample *sample, struct error *error)
{
    if (!array_reserve(&reading->pending, &reading->pending_capacity, reading->pending_count + 1, ITEM_LIMIT))
        return error_set_memory(error);
    reading->pending[reading->pending_count++] = *sample;
    return true;
}

/* Without times, equal stacks of a part are summed up before they wait. */
static bool keep_part(struct speedscope_reading *reading, const struct speedscope_part *part,
                      struct error *error)
{
    struct sample named = {.time_ns = NO_TIME};
    bool keep_times = reading->profile->keep_times;
    /* Of ours: the sum of the profiles that follow. */
    bool is_sum =
        reading->is_ours && text_ends_with(profile_text(reading->profile, part->name), TEXT(": all threads"));
    if (part->item_count == 0 || is_sum)
        return true;
    if (!name_event(reading, part, &named, error))
        return false;
    if (!keep_times)
        qsort(reading->items, part->item_count, sizeof(*reading->items), compare_items);
    for (size_t i = 0; i < part->item_count;) {
        const struct speedscope_item *first = &reading->items[i];
        struct sample sample = named;
        sample.stack = first->node;
        do {
            sample.value += reading->items[i].weight * part->factor;
            sample.count += part->unit == UNIT_COUNT ? reading->items[i].weight : 1;
            i++;
        } while (!keep_times && i < part->item_count && reading->items[i].node == first->node);
        double time_ns = first->at * part->factor;
        if (keep_times && part->unit == UNIT_NANOSECONDS && fabs(time_ns) < 9e18)
            sample.time_ns = (int64_t)time_ns;
        if (first->node != STACK_ROOT && sample.value != 0 && !add_pending(reading, &sample, error))
            return false;
    }
    return true;
}

static bool read_part(struct speedscope_reading *reading, struct error *error)
{
    struct speedscope_part part = {.factor = 1, .open_node = STACK_ROOT};
    enum json_token token;
    while ((token = json_reader_next(&reading->json, error)) == JSON_KEY)
        if (!read_part_member(reading, &part, error))
            return false;
    return token != JSON_FAILED && close_part(reading, &part, error) && keep_part(reading, &part, error);
}

static bool read_parts(struct speedscope_reading *reading, struct error *error)
{
    if (!json_reader_expect(&reading->json, JSON_ARRAY_BEGIN, "the list of profiles", error))
        return false;
    enum json_token token;
    while ((token = json_reader_next(&reading->json, error)) == JSON_OBJECT_BEGIN)
        if (!read_part(reading, error))
            return false;
    return token == JSON_ARRAY_END || (token != JSON_FAILED && fail(reading, "expected a profile", error));
}

static bool read_exporter(struct speedscope_reading *reading, struct error *error)
{
    enum json_token token = json_reader_next(&reading->json, error);
    reading->is_ours = token == JSON_TEXT && text_starts_with(reading->json.text, TEXT("sparkflame@"));
    return json_reader_skip(&reading->json, token, error);
}

static bool read_file(struct speedscope_reading *reading, struct error *error)
{
    if (!json_reader_expect(&reading->json, JSON_OBJECT_BEGIN, "an object", error))
        return false;
    enum json_token token;
    while ((token = json_reader_next(&reading->json, error)) == JSON_KEY) {
        bool good;
        if (text_equal(reading->json.text, TEXT("shared")))
            good = read_shared(reading, error);
        else if (text_equal(reading->json.text, TEXT("profiles")))
            good = read_parts(reading, error);
        else if (text_equal(reading->json.text, TEXT("exporter")))
            good = read_exporter(reading, error);
        else
            good = json_reader_skip_next(&reading->json, error);
        if (!good)
            return false;
    }
    return token == JSON_OBJECT_END;
}

/* From stacks of the file's indexes to stacks of the profile: parents come first. */
static uint32_t *translate_stacks(struct speedscope_reading *reading, struct error *error)
{
    const struct stack_tree *raw = &reading->raw_stacks;
    uint32_t *nodes = malloc(raw->size * sizeof(*nodes));
    if (nodes == NULL) {
        error_set_memory(error);
        return NULL;
    }
    nodes[STACK_ROOT] = STACK_ROOT;
    for (size_t i = 1; i < raw->size; i++) {
        uint32_t frame = raw->nodes[i].frame;
        bool known = frame < reading->frame_count;
        nodes[i] = known ? stack_tree_child(&reading->profile->stacks, nodes[raw->nodes[i].parent],
                                            reading->frames[frame])
                         : NO_STACK;
        if (nodes[i] != NO_STACK)
            continue;
        if (known)
            error_set_memory(error);
        else
            error_set(error, ERROR_BAD_INPUT, "frame %u is used, but there are only %zu", frame,
                      reading->frame_count);
        free(nodes);
        return NULL;
    }
    return nodes;
}

static bool add_samples(struct speedscope_reading *reading, struct error *error)
{
    uint32_t *nodes = translate_stacks(reading, error);
    if (nodes == NULL)
        return false;
    bool good = true;
    for (size_t i = 0; i < reading->pending_count && good; i++) {
        struct sample sample = reading->pending[i];
        sample.stack = nodes[sample.stack];
        good = profile_add_sample(reading->profile, &sample);
    }
    free(nodes);
    return good || error_set_memory(error);
}

static bool read_speedscope(struct byte_source *source, const struct read_options *options,
                            struct profile *profile, struct error *error)
{
    struct speedscope_reading reading = {.options = options, .profile = profile};
    if (!stack_tree_init(&reading.raw_stacks))
        return error_set_memory(error);
    json_reader_init(&reading.json, source, TEXT_LIMIT_BYTES);
    bool good = read_file(&reading, error) && add_samples(&reading, error);
    if (good && reading.has_unclosed)
        reader_notice(options, "some frames never close: they last until their profile's end");
    json_reader_release(&reading.json);
    stack_tree_release(&reading.raw_stacks);
    free(reading.frames);
    free(reading.items);
    free(reading.pending);
    return good;
}

static bool holds(struct text_view head, const char *part)
{
    return text_find(head, text_of(part)) != TEXT_NOT_FOUND;
}

static int recognizes(struct text_view head)
{
    struct text_view start = text_trim(head);
    if (start.size == 0 || start.data[0] != '{')
        return 0;
    if (holds(head, "speedscope.app/file-format-schema.json"))
        return 95;
    return holds(head, "\"shared\"") && holds(head, "\"frames\"") && holds(head, "\"profiles\"") ? 60 : 0;
}

const struct reader reader_speedscope = {
    .name = "speedscope",
    .summary = "speedscope's JSON",
    .recognizes = recognizes,
    .read = read_speedscope,
};
