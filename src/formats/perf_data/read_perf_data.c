/*
 * read_perf_data.c - the files that perf record writes. Frames are named as the text of perf script names them.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/hash.h"
#include "formats/perf_data/perf_data_file.h"
#include "formats/perf_data/perf_data_names.h"
#include "formats/perf_data/perf_data_walk.h"
#include "formats/perf_options.h"
#include "formats/reader.h"
#include "formats/text/perf_line.h"
#include "symbols/demangle.h"

#define FILE_LIMIT_BYTES ((size_t)64 << 30)
#define MOST_NAME_BYTES 1024
#define MOST_FRAMES 65536

struct perf_data_reading {
    const struct read_options *options;
    struct perf_options perf;
    struct profile *profile;
    struct perf_data_file file;
    struct perf_data_names names;
    struct id_map frames;   /* by location */
    struct id_map contexts; /* by process, thread and its name */
    uint32_t *stack;        /* innermost first; the thread's name last */
    size_t stack_size, stack_capacity;
    struct text_builder text;
    uint32_t events[PERF_DATA_EVENT_LIMIT]; /* of the profile; EVENT_LIMIT: not yet */
    uint64_t samples, lost, unwalked, damaged;
    struct perf_data_walk walk;
};

/* ---- frames ---- */

static uint32_t make_frame(struct perf_data_reading *reading, const struct perf_data_location *location)
{
    char address[24], name[MOST_NAME_BYTES];
    struct text_view function, module;
    perf_data_name(&reading->names, location, &function, &module);
    snprintf(address, sizeof(address), "%llx", (unsigned long long)location->address);
    snprintf(name, sizeof(name), "%.*s", TEXT_FORMAT(function));
    char readable[MOST_NAME_BYTES];
    (void)demangle(name, DEMANGLE_NAME_ONLY, readable, sizeof(readable));
    struct perf_frame frame = {text_of(address), text_of(readable), module};
    text_builder_clear(&reading->text);
    perf_function_add(&reading->text, &frame, frame.function, reading->perf.with_addresses, false);
    enum frame_kind kind = location->is_kernel && reading->perf.mark_kernel ? FRAME_KERNEL : FRAME_UNKNOWN;
    return reading->text.failed
               ? NO_FRAME
               : profile_frame(reading->profile, text_builder_view(&reading->text), TEXT(""), 0, kind);
}

static bool add_frame(struct perf_data_reading *reading, const struct perf_data_sample *sample,
                      uint64_t address, bool is_kernel)
{
    struct perf_data_location location = perf_data_locate(&reading->names, sample->pid, address, is_kernel);
    uint64_t owner = location.is_kernel           ? UINT64_MAX
                     : location.module != NO_FILE ? location.module
                                                  : ~(uint64_t)sample->pid;
    uint32_t *place = id_map_place(&reading->frames, hash_mix(location.address, HASH_SEED ^ owner));
    if (place == NULL)
        return false;
    if (*place == NO_ID) {
        *place = 0;
        uint32_t frame = make_frame(reading, &location);
        if (frame == NO_FRAME)
            return false;
        *place = frame;
    }
    if (reading->stack_size >= MOST_FRAMES)
        return true;
    if (!array_reserve(&reading->stack, &reading->stack_capacity, reading->stack_size + 1, MOST_FRAMES + 1))
        return false;
    reading->stack[reading->stack_size++] = *place;
    return true;
}

/* Of a copied stack. */
static bool add_walked(struct perf_data_reading *reading, const struct perf_data_sample *sample)
{
    struct perf_data_walk *walk = &reading->walk;
    if (reading->file.is_of_other_machine) {
        reading->unwalked++;
        return reading->stack_size > 0 || add_frame(reading, sample, sample->ip, false);
    }
    perf_data_walk(walk, &reading->names, sample);
    for (size_t i = 0; i < walk->count; i++)
        if (!add_frame(reading, sample, walk->addresses[i], false))
            return false;
    return true;
}

/* Marks in the callchain say whether kernel or user addresses follow; the first come from where the event happened. */
static bool add_callchain(struct perf_data_reading *reading, const struct perf_data_record *record,
                          const struct perf_data_sample *sample)
{
    struct perf_data_cursor cursor = {.rest = sample->callchain};
    bool is_kernel = (record->header.misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
    reading->stack_size = 0;
    while (cursor.rest.size >= 8) {
        uint64_t address = perf_data_take_u64(&cursor);
        if (address >= (uint64_t)PERF_CONTEXT_MAX)
            is_kernel = address == (uint64_t)PERF_CONTEXT_KERNEL;
        else if (!add_frame(reading, sample, address, is_kernel))
            return false;
    }
    if (sample->has_registers && sample->stack.size > 0)
        return add_walked(reading, sample);
    return reading->stack_size > 0 || add_frame(reading, sample, sample->ip, is_kernel);
}

/* ---- samples ---- */

static uint32_t add_comm(struct perf_data_reading *reading, const struct perf_data_sample *sample,
                         struct text_view comm)
{
    struct text_builder *text = &reading->text;
    text_builder_clear(text);
    text_builder_add(text, comm);
    for (size_t i = 0; i < text->size; i++)
        text->data[i] = text->data[i] == ' ' ? '_' : text->data[i] == ';' ? ':' : text->data[i];
    if (reading->perf.with_pid || reading->perf.with_tid)
        text_builder_format(text, "-%u", sample->pid);
    if (reading->perf.with_tid)
        text_builder_format(text, "/%u", sample->tid);
    return text->failed ? NO_FRAME
                        : profile_frame(reading->profile, text_builder_view(text), TEXT(""), 0, FRAME_GROUP);
}

static uint32_t number_text(struct perf_data_reading *reading, uint32_t number)
{
    char text[16];
    snprintf(text, sizeof(text), "%u", number);
    return profile_string(reading->profile, text_of(text));
}

static uint32_t find_context(struct perf_data_reading *reading, const struct perf_data_sample *sample,
                             struct text_view comm)
{
    if (!reading->options->needs_contexts)
        return 0;
    uint64_t key =
        hash_mix(hash_pair(sample->pid, sample->tid), HASH_SEED ^ hash_bytes(comm.data, comm.size));
    uint32_t *place = id_map_place(&reading->contexts, key);
    if (place == NULL || *place != NO_ID)
        return place == NULL ? NO_CONTEXT : *place;
    struct label labels[] = {
        {LABEL_THREAD, profile_string(reading->profile, comm)},
        {LABEL_THREAD_ID, number_text(reading, sample->tid)},
        {LABEL_PROCESS, number_text(reading, sample->pid)},
    };
    uint32_t context = NO_CONTEXT;
    if (labels[0].value != NO_STRING && labels[1].value != NO_STRING && labels[2].value != NO_STRING)
        context = context_table_add(&reading->profile->contexts, labels, COUNT_OF(labels));
    *place = context == NO_CONTEXT ? 0 : context;
    return context;
}

/* "cycles" of "cycles:u": user and kernel parts of one event belong together. "sched:sched_switch" stays. */
static struct text_view without_modifiers(struct text_view event)
{
    size_t colon = text_find_last_byte(event, ':');
    for (size_t i = colon + 1; colon != TEXT_NOT_FOUND && i < event.size; i++)
        if (strchr("ukhGHpPSDIeW", event.data[i]) == NULL)
            return event;
    return colon == TEXT_NOT_FOUND || colon == 0 ? event : text_part(event, 0, colon);
}

static uint32_t find_event(struct perf_data_reading *reading, const struct perf_data_sample *sample)
{
    uint32_t *event = &reading->events[sample->event_number];
    if (*event == EVENT_LIMIT) {
        struct text_view name = without_modifiers(text_of(sample->event->name));
        bool is_clock = text_equal(name, TEXT("cpu-clock")) || text_equal(name, TEXT("task-clock"));
        *event = profile_event(reading->profile, name, is_clock ? UNIT_NANOSECONDS : UNIT_COUNT, true);
    }
    return *event;
}

static bool is_filtered(const struct perf_data_reading *reading, const struct perf_data_sample *sample)
{
    const char *wanted = reading->perf.event_filter;
    struct text_view name = text_of(sample->event->name);
    return wanted != NULL && !text_equal(name, text_of(wanted)) &&
           !text_equal(without_modifiers(name), text_of(wanted));
}

static bool add_sample(struct perf_data_reading *reading, const struct perf_data_record *record)
{
    struct perf_data_sample sample;
    if (!perf_data_sample(&reading->file, record, &sample)) {
        reading->damaged++;
        return true;
    }
    if (is_filtered(reading, &sample))
        return true;
    struct text_view comm = perf_data_comm(&reading->names, sample.tid);
    if (!add_callchain(reading, record, &sample) ||
        !array_reserve(&reading->stack, &reading->stack_capacity, reading->stack_size + 1, MOST_FRAMES + 1))
        return false;
    uint32_t root = add_comm(reading, &sample, comm);
    struct sample added = {
        .context = find_context(reading, &sample, comm),
        .event = find_event(reading, &sample),
        .time_ns = (int64_t)(sample.time_ns & INT64_MAX),
        .value = (double)sample.period,
        .count = 1,
    };
    if (root == NO_FRAME || added.context == NO_CONTEXT || added.event == EVENT_LIMIT)
        return false;
    reading->stack[reading->stack_size++] = root;
    added.stack = stack_tree_path(&reading->profile->stacks, STACK_ROOT, reading->stack, reading->stack_size);
    reading->samples++;
    return added.stack != NO_STACK && profile_add_sample(reading->profile, &added);
}

static void count_lost(struct perf_data_reading *reading, const struct perf_data_record *record)
{
    struct perf_data_cursor cursor = {.rest = record->body};
    if (record->header.type == PERF_RECORD_LOST)
        (void)perf_data_take_u64(&cursor);
    reading->lost += perf_data_take_u64(&cursor);
}

static bool take_record(struct perf_data_reading *reading, const struct perf_data_record *record)
{
    if (record->header.type == PERF_RECORD_SAMPLE)
        return add_sample(reading, record);
    if (record->header.type == PERF_RECORD_LOST || record->header.type == PERF_RECORD_LOST_SAMPLES)
        count_lost(reading, record);
    return perf_data_names_apply(&reading->names, record);
}

static void tell(const struct perf_data_reading *reading)
{
    if (reading->file.was_cut)
        reader_notice(reading->options, "the file is cut; what comes before was read");
    if (reading->lost > 0)
        reader_notice(reading->options, "perf lost %llu records", (unsigned long long)reading->lost);
    if (reading->damaged > 0)
        reader_notice(reading->options, "%llu damaged samples were skipped",
                      (unsigned long long)reading->damaged);
    if (reading->unwalked > 0)
        reader_notice(
            reading->options,
            "copies of stacks of another kind of processor are not walked: use the text of perf script");
}

static bool read_records(struct perf_data_reading *reading, struct error *error)
{
    bool good = true;
    for (size_t i = 0; good && i < reading->file.count; i++) {
        struct perf_data_record record = perf_data_record_at(&reading->file, i);
        good = take_record(reading, &record);
    }
    if (!good)
        return error_set(error, ERROR_MEMORY, "out of memory, or too many events");
    if (reading->samples == 0 && reading->perf.event_filter == NULL)
        return error_set(error, ERROR_BAD_INPUT, "no sample");
    tell(reading);
    return true;
}

static bool read_perf_data(struct byte_source *source, const struct read_options *options,
                           struct profile *profile, struct error *error)
{
    struct text_view bytes;
    if (!byte_source_all(source, FILE_LIMIT_BYTES, &bytes, error))
        return false;
    struct perf_data_reading *reading = calloc(1, sizeof(*reading));
    if (reading == NULL)
        return error_set_memory(error);
    reading->options = options;
    reading->profile = profile;
    if (options->perf != NULL)
        reading->perf = *options->perf;
    id_map_init(&reading->frames);
    id_map_init(&reading->contexts);
    text_builder_init(&reading->text, (size_t)1 << 20);
    for (size_t i = 0; i < PERF_DATA_EVENT_LIMIT; i++)
        reading->events[i] = EVENT_LIMIT;
    bool good = perf_data_names_init(&reading->names, &reading->file, error) &&
                perf_data_open(&reading->file, bytes, error) && read_records(reading, error);
    perf_data_names_release(&reading->names);
    perf_data_release(&reading->file);
    id_map_release(&reading->frames);
    id_map_release(&reading->contexts);
    text_builder_release(&reading->text);
    free(reading->stack);
    free(reading);
    return good;
}

static int recognizes_perf_data(struct text_view head)
{
    return perf_data_recognizes(head) ? 100 : 0;
}

const struct reader reader_perf_data = {
    .name = "perf_data",
    .summary = "files of perf record",
    .recognizes = recognizes_perf_data,
    .read = read_perf_data,
};
