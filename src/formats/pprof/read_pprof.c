/* pprof: a protobuf message Profile, mostly gzipped. The older text formats of that name are refused. */
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "formats/pprof/pprof_names.h"
#include "formats/pprof/pprof_tables.h"
#include "formats/pprof/protobuf_reader.h"
#include "formats/reader.h"

#define FILE_LIMIT_BYTES ((size_t)8 << 30)
#define LOCATIONS_LIMIT ((size_t)1 << 26)
/* An event that takes no sample type. */
#define NO_TYPE PPROF_TYPE_LIMIT

/* One event of the model, from one or two of the file's sample types. */
struct event_source {
    size_t count_type; /* NO_TYPE: none */
    size_t value_type;
    double factor;
    uint32_t event;
};

struct pprof_reading {
    const struct read_options *options;
    struct profile *profile;
    struct pprof_tables tables;
    struct event_source sources[PPROF_TYPE_LIMIT];
    size_t source_count;
    uint32_t *locations; /* of the present sample, innermost first */
    size_t location_count, location_capacity;
    int64_t values[PPROF_TYPE_LIMIT];
    size_t value_count;
    struct label labels[LABEL_KEY_LIMIT];
    size_t label_count;
    int64_t time_ns;
    bool lost_labels;
    uint64_t cut_count;
};

static struct text_view string_at(const struct pprof_reading *reading, uint64_t index)
{
    return pprof_string(&reading->tables, index);
}

static bool fail_at(const struct pprof_reading *reading, struct text_view at, const char *what,
                    struct error *error)
{
    return error_set(error, ERROR_BAD_INPUT, "offset %llu: %s",
                     (unsigned long long)(at.data - reading->tables.file.data), what);
}

static enum event_unit unit_of(const struct pprof_reading *reading, size_t type, double *factor)
{
    return pprof_unit(string_at(reading, reading->tables.types[type].unit), factor);
}

static bool is_count(const struct pprof_reading *reading, size_t type)
{
    return text_equal(string_at(reading, reading->tables.types[type].unit), TEXT("count"));
}

static bool add_source(struct pprof_reading *reading, size_t count_type, size_t value_type,
                       struct error *error)
{
    struct event_source *source = &reading->sources[reading->source_count++];
    *source = (struct event_source){.count_type = count_type, .value_type = value_type};
    enum event_unit unit = unit_of(reading, value_type, &source->factor);
    struct text_view type = string_at(reading, reading->tables.types[value_type].type);
    struct text_view name = unit == UNIT_COUNT ? type : pprof_event_name(type);
    if (name.size == 0)
        name = TEXT("samples");
    source->event = profile_event(reading->profile, name, unit, unit != UNIT_COUNT);
    if (source->event != EVENT_LIMIT)
        return true;
    return reading->profile->event_count == EVENT_LIMIT
               ? error_set(error, ERROR_BAD_INPUT, "more than %d events", EVENT_LIMIT)
               : error_set_memory(error);
}

/* A count that stands before an amount belongs to it: (samples, cpu), (alloc_objects, alloc_space). */
static bool add_sources(struct pprof_reading *reading, struct error *error)
{
    size_t count = reading->tables.type_count;
    if (count == 0)
        return error_set(error, ERROR_BAD_INPUT, "the profile has no sample types");
    for (size_t i = 0; i < count; i++) {
        bool pair = is_count(reading, i) && i + 1 < count && !is_count(reading, i + 1);
        if (!add_source(reading, pair ? i : NO_TYPE, pair ? i + 1 : i, error))
            return false;
        i += pair;
    }
    return true;
}

static bool add_location_id(struct pprof_reading *reading, uint64_t id, struct text_view at,
                            struct error *error)
{
    uint32_t number = id_map_get(&reading->tables.location_numbers, id);
    if (number == NO_ID)
        return fail_at(reading, at, "a sample with a location that is not there", error);
    if (!array_reserve(&reading->locations, &reading->location_capacity, reading->location_count + 1,
                       LOCATIONS_LIMIT))
        return error_set_memory(error);
    reading->locations[reading->location_count++] = number;
    return true;
}

static bool add_value(struct pprof_reading *reading, uint64_t value, struct text_view at, struct error *error)
{
    if (reading->value_count == reading->tables.type_count)
        return fail_at(reading, at, "a sample with more values than sample types", error);
    reading->values[reading->value_count++] = (int64_t)value;
    return true;
}

/* Location ids and values may stand one by one or packed. */
static bool add_numbers(struct pprof_reading *reading, const struct protobuf_field *field,
                        struct text_view at, struct error *error)
{
    bool (*add)(struct pprof_reading *, uint64_t, struct text_view, struct error *) =
        field->number == 1 ? add_location_id : add_value;
    if (field->wire != PROTOBUF_BYTES)
        return add(reading, field->value, at, error);
    struct protobuf_reader packed;
    uint64_t value;
    protobuf_reader_init(&packed, field->bytes, reading->tables.file.data);
    while (protobuf_reader_varint(&packed, &value, error))
        if (!add(reading, value, at, error))
            return false;
    return !packed.failed;
}

static bool keep_label(struct pprof_reading *reading, struct text_view key, struct text_view value,
                       struct error *error)
{
    uint32_t number = profile_label_key(reading->profile, pprof_label_of_file(key));
    if (number == LABEL_KEY_LIMIT || reading->label_count == LABEL_KEY_LIMIT) {
        reading->lost_labels = true;
        return true;
    }
    uint32_t string = profile_string(reading->profile, value);
    if (string == NO_STRING)
        return error_set_memory(error);
    reading->labels[reading->label_count++] = (struct label){number, string};
    return true;
}

static bool add_label(struct pprof_reading *reading, struct text_view message, struct error *error)
{
    struct protobuf_reader reader;
    struct protobuf_field field;
    uint64_t key = 0, text = 0, number = 0;
    protobuf_reader_init(&reader, message, reading->tables.file.data);
    while (protobuf_reader_next(&reader, &field, error)) {
        uint64_t *places[] = {NULL, &key, &text, &number};
        if (field.wire == PROTOBUF_VARINT && field.number < COUNT_OF(places))
            *places[field.number] = field.value;
    }
    if (reader.failed)
        return false;
    struct text_view name = string_at(reading, key);
    if (text_equal(name, TEXT("end_timestamp_ns"))) {
        reading->time_ns = (int64_t)number;
        return true;
    }
    if (!reading->options->needs_contexts || name.size == 0)
        return true;
    char digits[24];
    int size = snprintf(digits, sizeof(digits), "%lld", (long long)number);
    struct text_view value = text != 0 ? string_at(reading, text) : (struct text_view){digits, (size_t)size};
    return keep_label(reading, name, value, error);
}

static uint32_t add_stack(struct pprof_reading *reading)
{
    struct stack_tree *stacks = &reading->profile->stacks;
    const struct pprof_tables *tables = &reading->tables;
    uint32_t node = STACK_ROOT;
    size_t depth = 0;
    for (size_t i = reading->location_count; i > 0; i--) {
        const struct pprof_location *location = &tables->locations[reading->locations[i - 1]];
        for (uint32_t j = 0; j < location->frame_count && node != NO_STACK; j++, depth++) {
            if (depth == READER_DEPTH_LIMIT) {
                reading->cut_count++;
                return node;
            }
            node = stack_tree_child(stacks, node, tables->location_frames[location->first_frame + j]);
        }
    }
    return node;
}

static double count_of(const struct pprof_reading *reading, const struct event_source *source)
{
    if (source->count_type != NO_TYPE)
        return (double)reading->values[source->count_type];
    if (reading->profile->events[source->event].unit == UNIT_COUNT)
        return (double)reading->values[source->value_type];
    const struct pprof_tables *tables = &reading->tables;
    bool has_period =
        tables->period > 0 && tables->period_type.type == tables->types[source->value_type].type;
    return has_period ? (double)reading->values[source->value_type] / (double)tables->period : 1;
}

static bool add_sample(struct pprof_reading *reading, struct error *error)
{
    struct sample sample = {.time_ns = reading->time_ns};
    sample.stack = add_stack(reading);
    sample.context = context_table_add(&reading->profile->contexts, reading->labels, reading->label_count);
    if (sample.stack == NO_STACK || sample.context == NO_CONTEXT)
        return error_set_memory(error);
    for (size_t i = 0; i < reading->source_count; i++) {
        const struct event_source *source = &reading->sources[i];
        sample.event = source->event;
        sample.value = (double)reading->values[source->value_type] * source->factor;
        sample.count = count_of(reading, source);
        if (sample.value == 0 && (source->count_type == NO_TYPE || sample.count == 0))
            continue;
        if (!profile_add_sample(reading->profile, &sample))
            return error_set_memory(error);
    }
    return true;
}

static bool read_sample(struct pprof_reading *reading, struct text_view message, struct error *error)
{
    struct protobuf_reader reader;
    struct protobuf_field field;
    reading->location_count = reading->value_count = reading->label_count = 0;
    reading->time_ns = NO_TIME;
    protobuf_reader_init(&reader, message, reading->tables.file.data);
    while (protobuf_reader_next(&reader, &field, error)) {
        bool good = true;
        if (field.number == 1 || field.number == 2)
            good = add_numbers(reading, &field, message, error);
        else if (field.number == 3 && field.wire == PROTOBUF_BYTES)
            good = add_label(reading, field.bytes, error);
        if (!good)
            return false;
    }
    if (reader.failed)
        return false;
    if (reading->value_count != reading->tables.type_count)
        return fail_at(reading, message, "a sample with fewer values than sample types", error);
    return add_sample(reading, error);
}

static void set_times(struct pprof_reading *reading)
{
    struct profile *profile = reading->profile;
    int64_t start_ns = reading->tables.time_ns, end_ns;
    if (start_ns <= 0 || __builtin_add_overflow(start_ns, reading->tables.duration_ns, &end_ns))
        return;
    if (profile->start_ns == NO_TIME || start_ns < profile->start_ns)
        profile->start_ns = start_ns;
    if (profile->end_ns == NO_TIME || end_ns > profile->end_ns)
        profile->end_ns = end_ns;
    profile->times_are_absolute = true;
}

static void give_notices(const struct pprof_reading *reading)
{
    if (reading->lost_labels)
        reader_notice(reading->options, "too many different labels: some were left out");
    reader_notice_cut(reading->options, reading->cut_count);
}

static bool read_message(struct pprof_reading *reading, struct text_view file, struct error *error)
{
    if (!pprof_tables_read(&reading->tables, file, reading->options->needs_lines, reading->profile, error) ||
        !add_sources(reading, error))
        return false;
    struct protobuf_reader reader;
    struct protobuf_field field;
    protobuf_reader_init(&reader, file, file.data);
    while (protobuf_reader_next(&reader, &field, error))
        if (field.number == PPROF_SAMPLE && field.wire == PROTOBUF_BYTES &&
            !read_sample(reading, field.bytes, error))
            return false;
    set_times(reading);
    give_notices(reading);
    return !reader.failed;
}

/* The first bytes of the formats that were called pprof before 2014. */
static bool is_legacy(struct text_view head)
{
    static const char *const starts[] = {"heap profile: ",
                                         "--- contention",
                                         "--- mutex",
                                         "--- heapz",
                                         "--- growthz",
                                         "--- threadz",
                                         "--- Thread",
                                         "thread creation profile:",
                                         "goroutine profile: ",
                                         "threadcreate profile: ",
                                         "--- cpu",
                                         "--- heap"};
    static const char cpu32[] = "\0\0\0\0\3\0\0\0", cpu64[] = "\0\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0";
    for (size_t i = 0; i < COUNT_OF(starts); i++)
        if (text_starts_with(head, text_of(starts[i])))
            return true;
    return text_starts_with(head, (struct text_view){cpu32, sizeof(cpu32) - 1}) ||
           text_starts_with(head, (struct text_view){cpu64, sizeof(cpu64) - 1});
}

static bool read_pprof(struct byte_source *source, const struct read_options *options,
                       struct profile *profile, struct error *error)
{
    struct text_view file;
    if (!byte_source_all(source, FILE_LIMIT_BYTES, &file, error))
        return false;
    if (is_legacy(file))
        return error_set(
            error, ERROR_UNSUPPORTED,
            "this is one of pprof's formats from before 2014; `pprof -proto FILE > NEW` makes a new one");
    struct pprof_reading reading = {.options = options, .profile = profile};
    bool good = read_message(&reading, file, error);
    pprof_tables_release(&reading.tables);
    free(reading.locations);
    return good;
}

/* Kinds that the fields of Profile may have; bit 0: number, bit 1: bytes. */
static bool is_plausible(const struct protobuf_field *field)
{
    static const char kinds[] = {0, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 2, 1, 3, 1, 1};
    int kind = field->wire == PROTOBUF_VARINT ? 1 : field->wire == PROTOBUF_BYTES ? 2 : 0;
    return field->number < COUNT_OF(kinds) && (kinds[field->number] & kind) != 0;
}

static bool is_value_type(struct text_view message)
{
    struct protobuf_reader reader;
    struct protobuf_field field;
    protobuf_reader_init(&reader, message, message.data);
    while (protobuf_reader_next(&reader, &field, NULL))
        if (field.number > 2 || field.wire != PROTOBUF_VARINT)
            return false;
    return !reader.failed && message.size > 0;
}

/* The last field may be cut off by the end of the head. */
static int recognizes(struct text_view head)
{
    if (is_legacy(head))
        return 60;
    struct protobuf_reader reader;
    struct protobuf_field field = {.number = 0};
    bool typical = false;
    size_t count = 0;
    protobuf_reader_init(&reader, head, head.data);
    for (; protobuf_reader_next(&reader, &field, NULL); count++) {
        if (!is_plausible(&field))
            return 0;
        typical = typical || (field.number == PPROF_SAMPLE_TYPE && is_value_type(field.bytes)) ||
                  (field.number == PPROF_STRING && field.bytes.size == 0);
    }
    bool good = count >= 2 || (count == 1 && reader.failed && is_plausible(&field));
    return typical && good ? 70 : 0;
}

const struct reader reader_pprof = {
    .name = "pprof",
    .summary = "pprof protobuf profiles, gzipped or not",
    .recognizes = recognizes,
    .read = read_pprof,
};
