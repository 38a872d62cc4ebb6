/* OTLP profiles: a protobuf message ExportProfilesServiceRequest of OpenTelemetry, as agents send it over HTTP. */
#include <stdlib.h>

#include "formats/otlp/otlp_dictionary.h"
#include "formats/otlp/otlp_profile_head.h"
#include "formats/pprof/pprof_names.h"
#include "formats/reader.h"

#define FILE_LIMIT_BYTES ((size_t)8 << 30)
/* Attributes of a resource that become labels. */
#define RESOURCE_LABELS 16
/* Keys that a collector needs for the labels of a recording, its application and its executor. */
#define KEYS_OF_RECORDING 18
/* An attribute that is no label yet, and one that cannot be one. */
#define LABEL_UNREAD UINT32_MAX
#define LABEL_NONE (UINT32_MAX - 1)

struct otlp_reading {
    const struct read_options *options;
    struct profile *profile;
    struct otlp_dictionary dictionary;
    uint32_t *stacks;     /* of each stack; NO_STACK: not read yet */
    struct label *labels; /* of each attribute */
    struct label kept[LABEL_KEY_LIMIT];
    size_t resource_labels, profile_labels; /* of them are of the resource, and of the profile */
    size_t kept_labels;
    struct otlp_profile_head head;
    uint32_t event;
    struct otlp_numbers attributes, amounts, times, locations;
    bool lost_labels;
    uint64_t cut_count;
};

static bool fail(const struct otlp_reading *reading, struct text_view at, const char *what,
                 struct error *error)
{
    return otlp_fail(reading->dictionary.tables.file, at, what, error);
}

/* ---- labels ---- */

static struct text_view label_name(struct text_view attribute)
{
    static const char *const names[][2] = {
        {"thread.name", "thread"}, {"thread.id", "thread_id"}, {"process.pid", "process"}};
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (text_equal(attribute, text_of(names[i][0])))
            return text_of(names[i][1]);
    return pprof_label_of_file(attribute);
}

/* LABEL_KEY_LIMIT: there are too many. */
static uint32_t label_key(struct profile *profile, struct text_view name)
{
    size_t count = profile->contexts.key_count;
    if (count < LABEL_KEY_LIMIT - KEYS_OF_RECORDING)
        return profile_label_key(profile, name);
    for (uint32_t key = 0; key < count; key++)
        if (text_equal(profile_label_key_name(profile, key), name))
            return key;
    return LABEL_KEY_LIMIT;
}

static bool make_label(struct otlp_reading *reading, const struct otlp_attribute *attribute,
                       struct label *label, struct error *error)
{
    *label = (struct label){LABEL_NONE, 0};
    if (attribute->name.size == 0 || attribute->value.size == 0)
        return true;
    uint32_t key = label_key(reading->profile, label_name(attribute->name));
    if (key == LABEL_KEY_LIMIT) {
        reading->lost_labels = true;
        return true;
    }
    uint32_t value = profile_string(reading->profile, attribute->value);
    if (value == NO_STRING)
        return error_set_memory(error);
    *label = (struct label){key, value};
    return true;
}

static void keep_label(struct otlp_reading *reading, struct label label)
{
    if (label.key == LABEL_NONE)
        return;
    if (reading->kept_labels == LABEL_KEY_LIMIT)
        reading->lost_labels = true;
    else
        reading->kept[reading->kept_labels++] = label;
}

static bool keep_attribute(struct otlp_reading *reading, uint64_t index, struct text_view at,
                           struct error *error)
{
    struct otlp_dictionary *dictionary = &reading->dictionary;
    struct otlp_attribute attribute;
    struct text_view message;
    if (!otlp_tables_get(&dictionary->tables, OTLP_ATTRIBUTES, index, at, "an attribute that is not there",
                         &message, error))
        return false;
    if (index == 0 || !reading->options->needs_contexts)
        return true;
    struct label *label = &reading->labels[index];
    if (label->key == LABEL_UNREAD &&
        (!otlp_attribute_read(&attribute, &dictionary->tables, message, OTLP_KEY_VALUE_AND_UNIT, error) ||
         !make_label(reading, &attribute, label, error)))
        return false;
    keep_label(reading, *label);
    return true;
}

static bool keep_attributes(struct otlp_reading *reading, struct text_view at, struct error *error)
{
    for (size_t i = 0; i < reading->attributes.count; i++)
        if (!keep_attribute(reading, reading->attributes.items[i], at, error))
            return false;
    return true;
}

static bool take_resource_attribute(void *context, const struct protobuf_field *field, struct error *error)
{
    struct otlp_reading *reading = context;
    struct otlp_attribute attribute;
    struct label label;
    if (field->number != OTLP_RESOURCE_ATTRIBUTES || field->wire != PROTOBUF_BYTES)
        return true;
    if (!otlp_attribute_read(&attribute, &reading->dictionary.tables, field->bytes, OTLP_KEY_VALUE, error))
        return false;
    if (!reading->options->needs_contexts || reading->kept_labels == RESOURCE_LABELS)
        return true;
    if (!make_label(reading, &attribute, &label, error))
        return false;
    keep_label(reading, label);
    return true;
}

/* ---- stacks ---- */

static bool take_locations(void *context, const struct protobuf_field *field, struct error *error)
{
    struct otlp_reading *reading = context;
    return field->number != 1 ||
           otlp_numbers_add(&reading->locations, field, reading->dictionary.tables.file, error);
}

/* NO_STACK: no memory. */
static uint32_t add_frames(struct otlp_reading *reading)
{
    const struct otlp_dictionary *dictionary = &reading->dictionary;
    uint32_t node = STACK_ROOT;
    size_t depth = 0;
    for (size_t i = reading->locations.count; i > 0; i--) {
        const struct otlp_location *location = &dictionary->locations[reading->locations.items[i - 1]];
        for (uint32_t j = 0; j < location->frame_count && node != NO_STACK; j++, depth++) {
            if (depth == READER_DEPTH_LIMIT) {
                reading->cut_count++;
                return node;
            }
            node = stack_tree_child(&reading->profile->stacks, node,
                                    dictionary->frames[location->first_frame + j]);
        }
    }
    return node;
}

static bool find_stack(struct otlp_reading *reading, uint64_t index, struct text_view at, uint32_t *stack,
                       struct error *error)
{
    struct text_view message;
    *stack = STACK_ROOT;
    if (!otlp_tables_get(&reading->dictionary.tables, OTLP_STACKS, index, at,
                         "a sample with a stack that is not there", &message, error))
        return false;
    if (index == 0)
        return true;
    if (reading->stacks[index] == NO_STACK) {
        reading->locations.count = 0;
        if (!otlp_each_field(message, reading->dictionary.tables.file, take_locations, reading, error))
            return false;
        /* Number 0 is no location, also when there is none at all. */
        for (size_t i = 0; i < reading->locations.count; i++)
            if (reading->locations.items[i] != 0 &&
                reading->locations.items[i] >= reading->dictionary.location_count)
                return fail(reading, message, "a stack with a location that is not there", error);
        reading->stacks[index] = add_frames(reading);
    }
    *stack = reading->stacks[index];
    return *stack != NO_STACK || error_set_memory(error);
}

/* ---- samples ---- */

static bool add_sample(struct otlp_reading *reading, struct sample *sample, double value, double count,
                       struct error *error)
{
    const struct otlp_profile_head *head = &reading->head;
    sample->value = value * head->factor;
    sample->count = head->counts > 0 ? value * head->counts : count;
    return value == 0 || profile_add_sample(reading->profile, sample) || error_set_memory(error);
}

static double amount_of(const struct otlp_reading *reading, size_t i)
{
    return reading->amounts.count > 0 ? (double)(int64_t)reading->amounts.items[i] : 1;
}

static bool add_observations(struct otlp_reading *reading, struct sample *sample, struct error *error)
{
    const struct otlp_numbers *times = &reading->times;
    size_t count = times->count > 0 ? times->count : reading->amounts.count;
    double sum = 0;
    sample->time_ns = NO_TIME;
    if (!reading->profile->keep_times || times->count == 0) {
        for (size_t i = 0; i < count; i++)
            sum += amount_of(reading, i);
        return add_sample(reading, sample, sum, (double)count, error);
    }
    reading->profile->times_are_absolute = true;
    for (size_t i = 0; i < count; i++) {
        sample->time_ns = times->items[i] <= INT64_MAX ? (int64_t)times->items[i] : NO_TIME;
        if (!add_sample(reading, sample, amount_of(reading, i), 1, error))
            return false;
    }
    return true;
}

/* Fields as they stand in the message, checked when all are there. */
static bool take_sample_field(void *context, const struct protobuf_field *field, struct error *error)
{
    struct otlp_reading *reading = context;
    const void *file = reading->dictionary.tables.file;
    switch (field->number) {
    case OTLP_SAMPLE_ATTRIBUTES:
        return otlp_numbers_add(&reading->attributes, field, file, error);
    case OTLP_SAMPLE_VALUES:
    case OTLP_SAMPLE_LINK:
        /* Here the releases before had attributes and a link. */
        if ((field->number == OTLP_SAMPLE_LINK) == (field->wire == PROTOBUF_BYTES))
            return error_set(error, ERROR_UNSUPPORTED,
                             "the profiles are of OpenTelemetry's protocol before release 1.10");
        return field->number == OTLP_SAMPLE_LINK || otlp_numbers_add(&reading->amounts, field, file, error);
    case OTLP_SAMPLE_TIMES:
        return otlp_numbers_add_fixed(&reading->times, field, file, error);
    default:
        return true;
    }
}

static bool read_sample_stack(struct otlp_reading *reading, struct text_view message, uint32_t *stack,
                              struct error *error)
{
    struct protobuf_reader reader;
    struct protobuf_field field;
    uint64_t index = 0;
    protobuf_reader_init(&reader, message, reading->dictionary.tables.file);
    while (protobuf_reader_next(&reader, &field, error))
        if (field.number == OTLP_SAMPLE_STACK && field.wire == PROTOBUF_VARINT)
            index = field.value;
    return !reader.failed && find_stack(reading, index, message, stack, error);
}

static bool read_sample(struct otlp_reading *reading, struct text_view message, struct error *error)
{
    struct sample sample = {.event = reading->event};
    reading->attributes.count = reading->amounts.count = reading->times.count = 0;
    reading->kept_labels = reading->profile_labels;
    if (!otlp_each_field(message, reading->dictionary.tables.file, take_sample_field, reading, error) ||
        !read_sample_stack(reading, message, &sample.stack, error))
        return false;
    size_t amounts = reading->amounts.count, times = reading->times.count;
    if (amounts == 0 && times == 0)
        return fail(reading, message, "a sample without values and times", error);
    if (amounts > 0 && times > 0 && amounts != times)
        return fail(reading, message, "a sample with another number of values than of times", error);
    if (!keep_attributes(reading, message, error))
        return false;
    sample.context = context_table_add(&reading->profile->contexts, reading->kept, reading->kept_labels);
    if (sample.context == NO_CONTEXT)
        return error_set_memory(error);
    return add_observations(reading, &sample, error);
}

/* ---- profiles ---- */

static bool take_profile_attributes(void *context, const struct protobuf_field *field, struct error *error)
{
    struct otlp_reading *reading = context;
    return field->number != OTLP_PROFILE_ATTRIBUTES ||
           otlp_numbers_add(&reading->attributes, field, reading->dictionary.tables.file, error);
}

static void set_times(struct profile *profile, const struct otlp_profile_head *head)
{
    int64_t end_ns;
    if (head->time_ns == 0 || head->time_ns > INT64_MAX || head->duration_ns > INT64_MAX ||
        __builtin_add_overflow((int64_t)head->time_ns, (int64_t)head->duration_ns, &end_ns))
        return;
    int64_t start_ns = (int64_t)head->time_ns;
    if (profile->start_ns == NO_TIME || start_ns < profile->start_ns)
        profile->start_ns = start_ns;
    if (profile->end_ns == NO_TIME || end_ns > profile->end_ns)
        profile->end_ns = end_ns;
    profile->times_are_absolute = true;
}

static bool take_sample(void *context, const struct protobuf_field *field, struct error *error)
{
    return field->number != OTLP_SAMPLES || field->wire != PROTOBUF_BYTES ||
           read_sample(context, field->bytes, error);
}

static bool read_head(struct otlp_reading *reading, struct text_view message, struct error *error)
{
    struct otlp_profile_head *head = &reading->head;
    reading->attributes.count = 0;
    reading->kept_labels = reading->resource_labels;
    if (!otlp_profile_head_read(head, &reading->dictionary.tables, message, error) ||
        !otlp_each_field(message, reading->dictionary.tables.file, take_profile_attributes, reading, error) ||
        !keep_attributes(reading, message, error))
        return false;
    reading->profile_labels = reading->kept_labels;
    reading->event = profile_event(reading->profile, head->event, head->unit, head->unit != UNIT_COUNT);
    set_times(reading->profile, head);
    if (reading->event != EVENT_LIMIT)
        return true;
    return reading->profile->event_count == EVENT_LIMIT
               ? error_set(error, ERROR_BAD_INPUT, "more than %d events", EVENT_LIMIT)
               : error_set_memory(error);
}

static bool take_profile(void *context, const struct protobuf_field *field, struct error *error)
{
    struct otlp_reading *reading = context;
    return field->number != OTLP_PROFILES || field->wire != PROTOBUF_BYTES ||
           (read_head(reading, field->bytes, error) &&
            otlp_each_field(field->bytes, reading->dictionary.tables.file, take_sample, reading, error));
}

static bool take_resource(void *context, const struct protobuf_field *field, struct error *error)
{
    struct otlp_reading *reading = context;
    return field->number != OTLP_RESOURCE || field->wire != PROTOBUF_BYTES ||
           otlp_each_field(field->bytes, reading->dictionary.tables.file, take_resource_attribute, reading,
                           error);
}

static bool take_scope(void *context, const struct protobuf_field *field, struct error *error)
{
    struct otlp_reading *reading = context;
    return field->number != OTLP_SCOPE_PROFILES || field->wire != PROTOBUF_BYTES ||
           otlp_each_field(field->bytes, reading->dictionary.tables.file, take_profile, reading, error);
}

static bool take_resource_profiles(void *context, const struct protobuf_field *field, struct error *error)
{
    struct otlp_reading *reading = context;
    const void *file = reading->dictionary.tables.file;
    if (field->number != OTLP_RESOURCE_PROFILES || field->wire != PROTOBUF_BYTES)
        return true;
    reading->kept_labels = 0;
    if (!otlp_each_field(field->bytes, file, take_resource, reading, error))
        return false;
    reading->resource_labels = reading->kept_labels;
    return otlp_each_field(field->bytes, file, take_scope, reading, error);
}

/* ---- the message ---- */

static bool reserve(struct otlp_reading *reading, struct error *error)
{
    size_t stacks = reading->dictionary.tables.of[OTLP_STACKS].count;
    size_t attributes = reading->dictionary.tables.of[OTLP_ATTRIBUTES].count;
    reading->stacks = malloc((stacks + 1) * sizeof(*reading->stacks));
    reading->labels = malloc((attributes + 1) * sizeof(*reading->labels));
    if (reading->stacks == NULL || reading->labels == NULL)
        return error_set_memory(error);
    for (size_t i = 0; i < stacks; i++)
        reading->stacks[i] = NO_STACK;
    for (size_t i = 0; i < attributes; i++)
        reading->labels[i] = (struct label){LABEL_UNREAD, 0};
    return true;
}

static void release(struct otlp_reading *reading)
{
    otlp_dictionary_release(&reading->dictionary);
    otlp_numbers_release(&reading->attributes);
    otlp_numbers_release(&reading->amounts);
    otlp_numbers_release(&reading->times);
    otlp_numbers_release(&reading->locations);
    free(reading->stacks);
    free(reading->labels);
}

static bool read_otlp(struct byte_source *source, const struct read_options *options, struct profile *profile,
                      struct error *error)
{
    struct text_view file;
    if (!byte_source_all(source, FILE_LIMIT_BYTES, &file, error))
        return false;
    struct otlp_reading reading = {.options = options, .profile = profile};
    bool good = otlp_dictionary_read(&reading.dictionary, file, options->needs_lines, profile, error) &&
                reserve(&reading, error) &&
                otlp_each_field(file, file.data, take_resource_profiles, &reading, error);
    if (good && reading.lost_labels)
        reader_notice(options, "too many different labels: some were left out");
    if (good)
        reader_notice_cut(options, reading.cut_count);
    release(&reading);
    return good;
}

/* ---- recognition ---- */

/* Enters the first field, as far as the head has it. */
static bool enter(struct text_view *message, uint32_t *number)
{
    struct protobuf_reader reader;
    uint64_t tag = 0, size = 0;
    protobuf_reader_init(&reader, *message, message->data);
    if (!protobuf_reader_varint(&reader, &tag, NULL) || (tag & 7) != PROTOBUF_BYTES ||
        !protobuf_reader_varint(&reader, &size, NULL))
        return false;
    *number = (uint32_t)(tag >> 3);
    size_t used = (size_t)((const char *)reader.at - message->data);
    *message = text_part(*message, used, size < SIZE_MAX ? (size_t)size : SIZE_MAX);
    return true;
}

/* A ResourceProfiles with a resource that begins with an attribute, or with the profiles of a scope. */
static bool is_resource_profiles(struct text_view message)
{
    uint32_t number = 0;
    if (!enter(&message, &number) || number < OTLP_RESOURCE || number > OTLP_SCOPE_PROFILES)
        return false;
    if (number == OTLP_SCOPE_PROFILES)
        return enter(&message, &number) && number <= 3;
    if (message.size == 0)
        return true;
    if (!enter(&message, &number) || number != OTLP_RESOURCE_ATTRIBUTES || !enter(&message, &number))
        return false;
    /* The name of an attribute is printable; one by number has its value first. */
    return number == 2 || (number == 1 && message.size > 0 && message.data[0] > ' ');
}

/* The last field may be cut off by the end of the head. */
static int recognizes(struct text_view head)
{
    struct protobuf_reader reader;
    struct protobuf_field field = {.number = 0};
    struct text_view first = head;
    uint32_t number = 0;
    if (!enter(&first, &number) || number != OTLP_RESOURCE_PROFILES || !is_resource_profiles(first))
        return 0;
    protobuf_reader_init(&reader, head, head.data);
    while (protobuf_reader_next(&reader, &field, NULL))
        if (field.wire != PROTOBUF_BYTES ||
            (field.number != OTLP_RESOURCE_PROFILES && field.number != OTLP_DICTIONARY))
            return 0;
    return 65;
}

const struct reader reader_otlp = {
    .name = "otlp",
    .summary = "OpenTelemetry profiles, protobuf of OTLP",
    .recognizes = recognizes,
    .read = read_otlp,
};
