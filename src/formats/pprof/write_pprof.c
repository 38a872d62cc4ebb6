/*
 * write_pprof.c - a gzipped protobuf message Profile.
 *
 * Samples of one stack and one set of labels become one, with a value for each sample type; times are not kept. They
 * are written in the order of a walk through the stacks: a sample's list of locations is that of the one before it with
 * another front, which is quick to make and packs well. What samples refer to is numbered at first use and written
 * after them, so that nothing but these numbers is held.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/id_map.h"
#include "base/utf8.h"
#include "formats/gzip_writer.h"
#include "formats/pprof/pprof_names.h"
#include "formats/pprof/pprof_tables.h"
#include "formats/pprof/protobuf_writer.h"
#include "formats/pprof/stack_order.h"
#include "formats/writer.h"
#include "model/main_event.h"
#include "model/stack_walk.h"

#define MESSAGE_LIMIT_BYTES ((size_t)1 << 31)
/* Prefetch distances of the parts of a sample. */
#define PREFETCH_FRAMES 4
#define PREFETCH_PATH 8
#define PREFETCH_STACK 12
#define PREFETCH_SAMPLE 16
#define MOST_LOCATION_BYTES ((size_t)5)
#define NAME_LIMIT_BYTES ((size_t)1 << 30)

/* Where the numbers of an event go in a sample's list of values. */
struct pprof_place {
    bool is_used;
    bool has_count;
    size_t value_at; /* the count's, if any, is before it */
};

/* The locations of the stack where the walk is. The innermost comes first, so that the list grows from its end, and
 * what the next stack shares with it stays where it is. */
struct location_list {
    char *bytes;
    size_t capacity;
    uint32_t *sizes; /* bytes of the list up to each frame, outermost first */
    size_t size_capacity;
};

struct pprof_writer {
    const struct profile *profile;
    struct name_style style;
    struct gzip_writer gzip;
    struct string_table strings; /* those of the file */
    struct pprof_place places[EVENT_LIMIT];
    size_t value_count;
    int64_t values[2 * EVENT_LIMIT];
    uint32_t *location_of_frame; /* 0: not used yet */
    uint32_t *used_frames;       /* of each location, from number 1 on */
    size_t location_count;
    struct id_map functions;  /* by name and file */
    struct text_view *labels; /* of each context, as fields of a sample; data NULL: not made yet */
    struct arena label_bytes;
    struct stack_walk walk;
    struct location_list locations;
    struct text_builder message;
    struct text_builder part;
    struct text_builder scratch;
    bool failed;
};

static uint64_t add_string(struct pprof_writer *writer, struct text_view text)
{
    if (!utf8_is_valid(text)) {
        struct text_builder mended;
        text_builder_init(&mended, NAME_LIMIT_BYTES);
        utf8_add_mended(&mended, text);
        uint32_t number = string_table_add(&writer->strings, text_builder_view(&mended));
        writer->failed = writer->failed || mended.failed || number == NO_STRING;
        text_builder_release(&mended);
        return number;
    }
    uint32_t number = string_table_add(&writer->strings, text);
    writer->failed = writer->failed || number == NO_STRING;
    return number;
}

/* Writes the message out as a field of Profile and clears it. */
static void write_message(struct pprof_writer *writer, uint32_t field)
{
    char head[2 * PROTOBUF_VARINT_BYTES];
    size_t size = protobuf_put_varint(head, (uint64_t)field << 3 | 2);
    size += protobuf_put_varint(head + size, writer->message.size);
    gzip_writer_write(&writer->gzip, head, size);
    gzip_writer_write(&writer->gzip, writer->message.data, writer->message.size);
    writer->failed = writer->failed || writer->message.failed;
    text_builder_clear(&writer->message);
}

static void write_number(struct pprof_writer *writer, uint32_t field, uint64_t value)
{
    struct text_builder *scratch = &writer->scratch;
    text_builder_clear(scratch);
    protobuf_add_number(scratch, field, value);
    gzip_writer_write(&writer->gzip, scratch->data, scratch->size);
}

static void write_value_type(struct pprof_writer *writer, struct text_view type, struct text_view unit)
{
    protobuf_add_number(&writer->message, 1, add_string(writer, type));
    protobuf_add_number(&writer->message, 2, add_string(writer, unit));
    write_message(writer, PPROF_SAMPLE_TYPE);
}

static void write_sample_types(struct pprof_writer *writer)
{
    const struct profile *profile = writer->profile;
    for (size_t i = 0; i < profile->event_count; i++) {
        const struct event *event = &profile->events[i];
        struct pprof_place *place = &writer->places[i];
        struct text_view name = profile_text(profile, event->name);
        if (!place->is_used)
            continue;
        place->has_count = event->unit != UNIT_COUNT;
        if (place->has_count) {
            text_builder_clear(&writer->part);
            pprof_add_count_type(&writer->part, name);
            write_value_type(writer, text_builder_view(&writer->part), TEXT("count"));
            writer->value_count++;
            name = pprof_value_type(name);
        }
        write_value_type(writer, name, pprof_unit_name(event->unit));
        place->value_at = writer->value_count++;
    }
}

/* Numbers that are many are written as such, since some stores index each text. */
static bool is_numeric_label(uint32_t key)
{
    return key == LABEL_TASK || key == LABEL_THREAD_ID || key == LABEL_ATTEMPT ||
           key == LABEL_STAGE_ATTEMPT || key == LABEL_PARTITION || key == LABEL_SQL || key == LABEL_JOB;
}

static void add_label(struct pprof_writer *writer, const struct label *label)
{
    struct text_view key = profile_label_key_name(writer->profile, label->key);
    struct text_view value = profile_text(writer->profile, label->value);
    struct text_builder *part = &writer->scratch;
    int64_t number;
    text_builder_clear(part);
    protobuf_add_number(part, 1, add_string(writer, pprof_label_of_model(key)));
    if (is_numeric_label(label->key) && text_to_i64(value, &number))
        protobuf_add_number(part, 3, (uint64_t)number);
    else
        protobuf_add_number(part, 2, add_string(writer, value));
    protobuf_add_bytes(&writer->part, 3, text_builder_view(part));
}

static struct text_view labels_of(struct pprof_writer *writer, uint32_t number)
{
    struct text_view *labels = &writer->labels[number];
    if (labels->data != NULL)
        return *labels;
    struct context context = context_table_get(&writer->profile->contexts, number);
    text_builder_clear(&writer->part);
    for (size_t i = 0; i < context.size; i++)
        add_label(writer, &context.labels[i]);
    *labels = arena_copy_text(&writer->label_bytes, text_builder_view(&writer->part));
    writer->failed = writer->failed || labels->data == NULL || writer->part.failed;
    return *labels;
}

static uint32_t location_of(struct pprof_writer *writer, uint32_t frame)
{
    uint32_t *location = &writer->location_of_frame[frame];
    if (*location == 0) {
        writer->used_frames[writer->location_count] = frame;
        *location = (uint32_t)++writer->location_count;
    }
    return *location;
}

static size_t varint_size(uint32_t value)
{
    return value < 1u << 7 ? 1 : value < 1u << 14 ? 2 : value < 1u << 21 ? 3 : value < 1u << 28 ? 4 : 5;
}

/* Room for the locations of the frames that follow the kept ones. */
static bool reserve_locations(struct pprof_writer *writer, const struct stack_step *step)
{
    struct location_list *list = &writer->locations;
    size_t kept_bytes = step->kept == 0 ? 0 : list->sizes[step->kept - 1];
    size_t needed = kept_bytes + step->count * MOST_LOCATION_BYTES;
    if (!array_reserve(&list->sizes, &list->size_capacity, step->kept + step->count, MESSAGE_LIMIT_BYTES))
        return false;
    if (needed <= list->capacity)
        return true;
    size_t capacity = needed * 2;
    char *bytes = needed > MESSAGE_LIMIT_BYTES ? NULL : malloc(capacity);
    if (bytes == NULL)
        return false;
    if (kept_bytes > 0)
        memcpy(bytes + capacity - kept_bytes, list->bytes + list->capacity - kept_bytes, kept_bytes);
    free(list->bytes);
    list->bytes = bytes;
    list->capacity = capacity;
    return true;
}

/* Goes to the stack; its locations, innermost first. */
static struct text_view locations_of(struct pprof_writer *writer, uint32_t stack)
{
    struct location_list *list = &writer->locations;
    struct stack_step step;
    if (!stack_walk_go(&writer->walk, stack, &step) || !reserve_locations(writer, &step)) {
        writer->failed = true;
        return TEXT("");
    }
    if (list->capacity == 0) /* no stack had a frame yet */
        return TEXT("");
    size_t size = step.kept == 0 ? 0 : list->sizes[step.kept - 1];
    char *end = list->bytes + list->capacity;
    for (size_t i = 0; i < step.count; i++) {
        uint32_t location = location_of(writer, step.frames[i]);
        size += varint_size(location);
        protobuf_put_varint(end - size, location);
        list->sizes[step.kept + i] = (uint32_t)size;
    }
    return (struct text_view){end - size, size};
}

static void write_sample(struct pprof_writer *writer, uint32_t stack, uint32_t context)
{
    char head[3 * PROTOBUF_VARINT_BYTES], list_head[2 * PROTOBUF_VARINT_BYTES];
    struct text_view locations = locations_of(writer, stack), labels = labels_of(writer, context);
    size_t list_head_size = 0;
    if (locations.size > 0) {
        list_head_size = protobuf_put_varint(list_head, 1 << 3 | 2);
        list_head_size += protobuf_put_varint(list_head + list_head_size, locations.size);
    }
    text_builder_clear(&writer->part);
    for (size_t i = 0; i < writer->value_count; i++)
        protobuf_add_varint(&writer->part, (uint64_t)writer->values[i]);
    text_builder_clear(&writer->message);
    protobuf_add_bytes(&writer->message, 2, text_builder_view(&writer->part));
    writer->failed = writer->failed || writer->part.failed || writer->message.failed;
    size_t size = list_head_size + locations.size + writer->message.size + labels.size;
    size_t head_size = protobuf_put_varint(head, (uint64_t)PPROF_SAMPLE << 3 | 2);
    head_size += protobuf_put_varint(head + head_size, size);
    gzip_writer_write(&writer->gzip, head, head_size);
    gzip_writer_write(&writer->gzip, list_head, list_head_size);
    gzip_writer_write(&writer->gzip, locations.data, locations.size);
    gzip_writer_write(&writer->gzip, writer->message.data, writer->message.size);
    gzip_writer_write(&writer->gzip, labels.data, labels.size);
    text_builder_clear(&writer->message);
}

static int64_t rounded(double number)
{
    if (isnan(number))
        return 0;
    return number >= 9.2e18 ? INT64_MAX : number <= -9.2e18 ? INT64_MIN : llround(number);
}

/* Sums up the samples of one stack and context, and returns how many they are. */
static size_t sum_up(struct pprof_writer *writer, const struct stack_order *order, size_t first)
{
    double sums[2 * EVENT_LIMIT];
    size_t end = first;
    for (size_t i = 0; i < writer->value_count; i++)
        sums[i] = 0;
    for (; end < order->size && order->rows[end].key == order->rows[first].key; end++) {
        const struct sample *sample = &writer->profile->samples[order->rows[end].sample];
        const struct pprof_place *place = &writer->places[sample->event];
        sums[place->value_at] += sample->value;
        if (place->has_count)
            sums[place->value_at - 1] += sample->count;
    }
    for (size_t i = 0; i < writer->value_count; i++)
        writer->values[i] = rounded(sums[i]);
    return end - first;
}

/* Data of neighbouring samples is scattered in memory. */
PREFETCHING void prefetch(const struct pprof_writer *writer, const struct stack_order *order, size_t now)
{
    const struct sample *samples = writer->profile->samples;
    if (now + PREFETCH_SAMPLE >= order->size)
        return;
    __builtin_prefetch(&samples[order->rows[now + PREFETCH_SAMPLE].sample]);
    stack_walk_prefetch_stack(&writer->walk, samples[order->rows[now + PREFETCH_STACK].sample].stack);
    stack_walk_prefetch_path(&writer->walk, samples[order->rows[now + PREFETCH_PATH].sample].stack);
    stack_walk_prefetch_frames(&writer->walk, samples[order->rows[now + PREFETCH_FRAMES].sample].stack);
}

static bool write_samples(struct pprof_writer *writer, struct error *error)
{
    struct stack_order order;
    if (!stack_order_init(&order, writer->profile, error))
        return false;
    for (size_t i = 0; i < order.size && !writer->failed;) {
        const struct sample *sample = &writer->profile->samples[order.rows[i].sample];
        prefetch(writer, &order, i);
        i += sum_up(writer, &order, i);
        write_sample(writer, sample->stack, sample->context);
    }
    stack_order_release(&order);
    return !writer->failed || error_set_memory(error);
}

/* What all samples have that have such a label at all; "" when they differ. */
static struct text_view common_label(const struct profile *profile, enum label_key key)
{
    uint32_t common = 0;
    for (uint32_t i = 0; i < profile->contexts.size; i++) {
        uint32_t value = context_table_value(&profile->contexts, i, key);
        if (value != 0 && common != 0 && value != common)
            return TEXT("");
        common = value == 0 ? common : value;
    }
    return profile_text(profile, common);
}

/* What tools show as the file that was profiled: the application, else what has run it. */
static struct text_view program_name(const struct pprof_writer *writer, const bool *used_kinds)
{
    struct text_view name = common_label(writer->profile, LABEL_APPLICATION);
    for (enum frame_kind kind = FRAME_UNKNOWN; name.size == 0 && kind < FRAME_KIND_COUNT; kind++)
        if (used_kinds[kind] && frame_kind_is_java(kind))
            name = TEXT("java");
    if (name.size == 0 && used_kinds[FRAME_PYTHON])
        name = TEXT("python");
    return name;
}

/* `file` is empty if unknown. All symbols are resolved, so tools need not read the file. */
static void write_mapping(struct pprof_writer *writer, uint64_t number, struct text_view file)
{
    protobuf_add_number(&writer->message, 1, number);
    protobuf_add_number(&writer->message, 5, add_string(writer, file));
    protobuf_add_number(&writer->message, 7, 1);
    protobuf_add_number(&writer->message, 8, 1);
    protobuf_add_number(&writer->message, 9, 1);
    write_message(writer, PPROF_MAPPING);
}

/* Tools take the first mapping for the program; it has the frames of unknown kind. Then one for each kind of code,
 * numbered by the kind plus one. */
static void write_mappings(struct pprof_writer *writer)
{
    bool used[FRAME_KIND_COUNT] = {false};
    for (size_t i = 0; i < writer->location_count; i++)
        used[writer->profile->frames.frames[writer->used_frames[i]].kind % FRAME_KIND_COUNT] = true;
    write_mapping(writer, FRAME_UNKNOWN + 1, program_name(writer, used));
    for (enum frame_kind kind = FRAME_UNKNOWN + 1; kind < FRAME_KIND_COUNT; kind++) {
        if (!used[kind])
            continue;
        text_builder_clear(&writer->part);
        text_builder_format(&writer->part, "[%s]", frame_kind_name(kind));
        write_mapping(writer, (uint64_t)kind + 1, text_builder_view(&writer->part));
    }
}

/* The number of the function, which is written when it is new. */
static uint32_t write_function(struct pprof_writer *writer, uint32_t number)
{
    const struct frame *frame = &writer->profile->frames.frames[number];
    text_builder_clear(&writer->part);
    frame_name_add(writer->profile, number, &writer->style, &writer->part);
    uint64_t name = add_string(writer, text_builder_view(&writer->part));
    uint64_t file = add_string(writer, profile_text(writer->profile, frame->file));
    uint32_t *function = id_map_place(&writer->functions, name << 32 | file);
    writer->failed = writer->failed || function == NULL || writer->part.failed;
    if (function == NULL || *function != NO_ID)
        return function == NULL ? 0 : *function;
    *function = (uint32_t)writer->functions.size;
    protobuf_add_number(&writer->message, 1, *function);
    protobuf_add_number(&writer->message, 2, name);
    protobuf_add_number(&writer->message, 3, add_string(writer, profile_text(writer->profile, frame->name)));
    protobuf_add_number(&writer->message, 4, file);
    write_message(writer, PPROF_FUNCTION);
    return *function;
}

static void write_locations(struct pprof_writer *writer)
{
    for (size_t i = 0; i < writer->location_count; i++) {
        const struct frame *frame = &writer->profile->frames.frames[writer->used_frames[i]];
        uint32_t function = write_function(writer, writer->used_frames[i]);
        text_builder_clear(&writer->part);
        protobuf_add_number(&writer->part, 1, function);
        protobuf_add_number(&writer->part, 2, frame->line);
        protobuf_add_number(&writer->message, 1, i + 1);
        protobuf_add_number(&writer->message, 2, (uint64_t)frame->kind % FRAME_KIND_COUNT + 1);
        protobuf_add_bytes(&writer->message, 4, text_builder_view(&writer->part));
        write_message(writer, PPROF_LOCATION);
    }
}

static void write_strings(struct pprof_writer *writer)
{
    for (uint32_t i = 0; i < writer->strings.size; i++) {
        text_builder_add(&writer->message, string_table_text(&writer->strings, i));
        write_message(writer, PPROF_STRING);
    }
}

/* Tools show the last sample type unless told otherwise. */
static uint64_t default_type(struct pprof_writer *writer)
{
    uint32_t event = main_event_of(writer->profile);
    if (!writer->places[event].is_used)
        return 0;
    struct text_view name = profile_text(writer->profile, writer->profile->events[event].name);
    return add_string(writer, writer->places[event].has_count ? pprof_value_type(name) : name);
}

static bool write_profile(struct pprof_writer *writer, const struct write_options *options,
                          struct error *error)
{
    const struct profile *profile = writer->profile;
    write_sample_types(writer);
    if (!write_samples(writer, error))
        return false;
    write_mappings(writer);
    write_locations(writer);
    uint64_t comment = options->command_line == NULL ? 0 : add_string(writer, text_of(options->command_line));
    uint64_t default_string = default_type(writer);
    write_strings(writer);
    if (profile->times_are_absolute && profile->start_ns != NO_TIME) {
        write_number(writer, PPROF_TIME_NANOS, (uint64_t)profile->start_ns);
        if (profile->end_ns > profile->start_ns)
            write_number(writer, PPROF_DURATION_NANOS, (uint64_t)(profile->end_ns - profile->start_ns));
    }
    write_number(writer, 13, comment);
    write_number(writer, PPROF_DEFAULT_SAMPLE_TYPE, default_string);
    return !writer->failed || error_set_memory(error);
}

static bool start(struct pprof_writer *writer, struct output *output, struct error *error)
{
    const struct profile *profile = writer->profile;
    stack_walk_init(&writer->walk, profile);
    text_builder_init(&writer->message, MESSAGE_LIMIT_BYTES);
    text_builder_init(&writer->part, MESSAGE_LIMIT_BYTES);
    text_builder_init(&writer->scratch, MESSAGE_LIMIT_BYTES);
    arena_init(&writer->label_bytes, MESSAGE_LIMIT_BYTES);
    id_map_init(&writer->functions);
    writer->location_of_frame = calloc(profile->frames.size + 1, sizeof(*writer->location_of_frame));
    writer->used_frames = malloc((profile->frames.size + 1) * sizeof(*writer->used_frames));
    writer->labels = calloc(profile->contexts.size + 1, sizeof(*writer->labels));
    for (size_t i = 0; i < profile->sample_count; i++)
        writer->places[profile->samples[i].event].is_used = true;
    if (profile->sample_count == 0 && profile->event_count > 0)
        writer->places[0].is_used = true;
    bool good = string_table_init(&writer->strings, PROFILE_STRING_LIMIT_BYTES) &&
                writer->location_of_frame != NULL && writer->used_frames != NULL && writer->labels != NULL;
    return good ? gzip_writer_init(&writer->gzip, output, error) : error_set_memory(error);
}

static void release(struct pprof_writer *writer)
{
    gzip_writer_release(&writer->gzip);
    string_table_release(&writer->strings);
    stack_walk_release(&writer->walk);
    free(writer->locations.bytes);
    free(writer->locations.sizes);
    text_builder_release(&writer->message);
    text_builder_release(&writer->part);
    text_builder_release(&writer->scratch);
    arena_release(&writer->label_bytes);
    id_map_release(&writer->functions);
    free(writer->location_of_frame);
    free(writer->used_frames);
    free(writer->labels);
}

static bool write_pprof(const struct profile *profile, const struct write_options *options,
                        struct output *output, struct error *error)
{
    struct pprof_writer *writer = calloc(1, sizeof(*writer));
    if (writer == NULL)
        return error_set_memory(error);
    writer->profile = profile;
    writer->style = options->names;
    writer->style.lines = false;
    bool good = start(writer, output, error);
    good = good && write_profile(writer, options, error);
    good = good && gzip_writer_finish(&writer->gzip, error);
    release(writer);
    free(writer);
    return good;
}

const struct writer writer_pprof = {
    .name = "pprof",
    .summary = "pprof protobuf, gzipped",
    .extensions = "pb.gz pprof pb",
    .holds_labels = true,
    .holds_lines = true,
    .holds_kinds = true,
    .is_packed = true,
    .takes_listed_stacks = true,
    .write = write_pprof,
};
