#include "commands/collector/query_heap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "base/string_table.h"
#include "collector/libraries/sqlite_library.h"
#include "collector/store/store_reader.h"
#include "commands/collector/step_table.h"
#include "commands/collector/store_profiles.h"
#include "formats/jfr/jfr_metrics.h"
#include "model/profile.h"

enum { PAGE_RECORDINGS = 64, FIRST_STEP_MS = 1000, MOST_STEPS = 240 };
#define STRING_LIMIT_BYTES ((size_t)256 << 20)

/* Values of a cell. */
enum process_value { HEAP_USED, HEAP_COMMITTED, HEAP_LIMIT, GC_MS };
enum class_value { ALLOCATED, LIVE, ALLOCATIONS };

struct heap_process {
    double peak, limit, gc_ms;
    uint32_t owner;
};

struct heap_class {
    double allocated, live;
    uint32_t owner;
};

struct heap_work {
    const struct profile_input_options *input;
    struct store_reader *reader;
    struct recording_query query; /* of the next page */
    struct stored_recording page[PAGE_RECORDINGS];
    size_t page_size;
    const struct stored_recording *recording; /* the one that is read */
    uint32_t process;
    struct string_table processes; /* "application\nattempt\nexecutor" */
    struct string_table classes;
    struct step_table heaps, types;
    uint64_t skipped;
};

/* ---- reading ---- */

static bool take_metric(void *context, const struct jfr_metric_value *value)
{
    static const struct {
        const char *metric;
        enum process_value which;
    } wanted[] = {{"heap_used", HEAP_USED},
                  {"heap_committed", HEAP_COMMITTED},
                  {"heap_max", HEAP_LIMIT},
                  {"gc_time", GC_MS}};
    struct heap_work *work = context;
    if (value->process != 0)
        return true;
    for (size_t i = 0; i < COUNT_OF(wanted); i++)
        if (strcmp(value->metric, wanted[i].metric) == 0)
            return step_table_add(&work->heaps, work->process, value->time_ms, wanted[i].which, value->value);
    return true;
}

static bool read_metrics(struct heap_work *work, const struct stored_recording *recording,
                         struct error *error)
{
    struct text_builder body;
    text_builder_init(&body, (size_t)recording->body_bytes + 1);
    struct byte_source *source = NULL;
    bool good = store_reader_body(work->reader, recording, &body, error) &&
                (source = byte_source_open_memory(text_builder_view(&body), "recording", error)) != NULL &&
                jfr_metrics_read(source, take_metric, work, error);
    byte_source_close(source);
    text_builder_release(&body);
    return good;
}

static bool add_sample(struct heap_work *work, const struct profile *profile, const struct sample *sample)
{
    struct text_view event = profile_text(profile, profile->events[sample->event].name);
    bool is_live = text_equal(event, TEXT("live"));
    const struct frame *frame = &profile->frames.frames[profile->stacks.nodes[sample->stack].frame];
    if ((!is_live && !text_equal(event, TEXT("alloc"))) || sample->stack == STACK_ROOT ||
        frame->kind != FRAME_CLASS)
        return true;
    bool has_time = profile->times_are_absolute && sample->time_ns != NO_TIME;
    int64_t time_ms = has_time ? sample->time_ns / 1000000 : work->recording->received_ms;
    uint32_t owner = string_table_add(&work->classes, profile_text(profile, frame->name));
    return owner != NO_STRING &&
           step_table_add(&work->types, owner, time_ms, is_live ? LIVE : ALLOCATED, sample->value) &&
           (is_live || step_table_add(&work->types, owner, time_ms, ALLOCATIONS, sample->count));
}

static bool read_classes(struct heap_work *work, const struct stored_recording *recording,
                         struct error *error)
{
    struct read_options read = {.threads = 1};
    struct profile profile;
    if (!profile_init(&profile, true, error))
        return false;
    bool good = store_profiles_read_body(work->reader, recording, &read, &profile, error) &&
                profile_place_stacks(&profile, error);
    for (size_t i = 0; good && i < profile.sample_count; i++)
        good = add_sample(work, &profile, &profile.samples[i]) || error_set_memory(error);
    profile_release(&profile);
    return good;
}

/* Recordings of JFR say which events they have, unless they are older than that label. */
static bool may_have_classes(const struct stored_recording *recording)
{
    struct text_view lines = text_of(recording->labels);
    bool is_known = false;
    while (lines.size > 0 && !is_known) {
        struct text_view events = text_cut(&lines, '\n');
        is_known = text_equal(text_cut(&events, '='), TEXT("events"));
        while (is_known && events.size > 0) {
            struct text_view event = text_cut(&events, ',');
            if (text_equal(event, TEXT("alloc")) || text_equal(event, TEXT("live")))
                return true;
        }
    }
    return !is_known;
}

static bool name_process(struct heap_work *work, const struct stored_recording *recording)
{
    char name[3 * (RECORDING_ID_BYTES + 1)];
    snprintf(name, sizeof(name), "%s\n%s\n%s", recording->application, recording->attempt,
             recording->executor);
    work->process = string_table_add(&work->processes, text_of(name));
    work->recording = recording;
    return work->process != NO_STRING;
}

static bool add_recording(struct heap_work *work, const struct stored_recording *recording,
                          struct error *error)
{
    struct error reading = {0};
    if (strcmp(recording->kind, "jfr") != 0 || !store_profiles_wants(work->input, recording, true))
        return true;
    if (!name_process(work, recording))
        return error_set_memory(error);
    if (read_metrics(work, recording, &reading) &&
        (!may_have_classes(recording) || read_classes(work, recording, &reading)))
        return true;
    work->skipped++;
    if (reading.code != ERROR_MEMORY)
        return true;
    *error = reading;
    return false;
}

static bool take_recording(void *context, const struct stored_recording *recording)
{
    struct heap_work *work = context;
    work->page[work->page_size++] = *recording;
    work->query.after = recording->number;
    return work->page_size < PAGE_RECORDINGS;
}

static bool add_recordings(struct heap_work *work, struct error *error)
{
    bool good = true;
    do {
        work->page_size = 0;
        struct recording_index *index = store_reader_lock(work->reader);
        good = recording_index_each(index, &work->query, take_recording, work, error);
        store_reader_unlock(work->reader);
        for (size_t i = 0; good && i < work->page_size; i++)
            good = add_recording(work, &work->page[i], error);
    } while (good && work->page_size == PAGE_RECORDINGS);
    return good;
}

/* Both tables have the same steps, so that their curves can be drawn below each other. */
static bool finish(struct heap_work *work, struct error *error)
{
    bool good = step_table_coarsen(&work->heaps, MOST_STEPS) &&
                step_table_coarsen(&work->types, MOST_STEPS) &&
                step_table_match(&work->heaps, work->types.step_ms) &&
                step_table_match(&work->types, work->heaps.step_ms);
    step_table_sort(&work->heaps);
    step_table_sort(&work->types);
    return good || error_set_memory(error);
}

/* ---- processes ---- */

/* A counter becomes what it gained since the cell before; one that fell began anew. */
static void count_collections(struct step_table *heaps)
{
    double last = 0;
    for (size_t i = 0; i < heaps->count; i++) {
        double counter = heaps->cells[i].values[GC_MS];
        bool is_first = i == 0 || heaps->cells[i].owner != heaps->cells[i - 1].owner;
        bool is_known = counter > 0 && !is_first;
        heaps->cells[i].values[GC_MS] = !is_known ? 0 : counter < last ? counter : counter - last;
        last = is_known || is_first ? counter : last;
    }
}

static void sum_processes(const struct step_table *heaps, struct heap_process *processes)
{
    for (size_t i = 0; i < heaps->count; i++) {
        const struct step_cell *cell = &heaps->cells[i];
        struct heap_process *process = &processes[cell->owner];
        process->peak = cell->values[HEAP_USED] > process->peak ? cell->values[HEAP_USED] : process->peak;
        process->limit =
            cell->values[HEAP_LIMIT] > process->limit ? cell->values[HEAP_LIMIT] : process->limit;
        process->gc_ms += cell->values[GC_MS];
    }
}

static int compare_processes(const void *left, const void *right)
{
    const struct heap_process *a = left, *b = right;
    if (a->peak != b->peak)
        return a->peak > b->peak ? -1 : 1;
    return (a->owner > b->owner) - (a->owner < b->owner);
}

static int compare_classes(const void *left, const void *right)
{
    const struct heap_class *a = left, *b = right;
    if (a->allocated != b->allocated)
        return a->allocated > b->allocated ? -1 : 1;
    if (a->live != b->live)
        return a->live > b->live ? -1 : 1;
    return (a->owner > b->owner) - (a->owner < b->owner);
}

static const struct step_cell *cells_of(const struct step_table *table, uint32_t owner,
                                        const struct step_cell **end)
{
    size_t first = 0, last = table->count;
    while (first < last) {
        size_t middle = first + (last - first) / 2;
        if (table->cells[middle].owner < owner)
            first = middle + 1;
        else
            last = middle;
    }
    const struct step_cell *begin = &table->cells[first];
    for (*end = begin; *end < table->cells + table->count && (*end)->owner == owner;)
        (*end)++;
    return begin;
}

static long long time_of(const struct step_table *table, int64_t step)
{
    int64_t time_ms = step * table->step_ms;
    return time_ms;
}

static void write_process(struct heap_work *work, const struct heap_process *process, struct output *output)
{
    static const char *const names[] = {"{\"application\":", ",\"attempt\":", ",\"executor\":"};
    struct text_view rest = string_table_text(&work->processes, process->owner);
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        output_c_string(output, names[i]);
        json_text_write(output, text_cut(&rest, '\n'));
    }
    output_format(output, ",\"peak_bytes\":%.0f,\"limit_bytes\":%.0f,\"gc_ms\":%.3f,\"points\":[",
                  process->peak, process->limit, process->gc_ms);
    const struct step_cell *end, *cell = cells_of(&work->heaps, process->owner, &end);
    for (const char *comma = ""; cell < end; cell++, comma = ",")
        output_format(output,
                      "%s{\"time_ms\":%lld,\"used_bytes\":%.0f,\"committed_bytes\":%.0f,\"gc_ms\":%.3f}",
                      comma, time_of(&work->heaps, cell->step), cell->values[HEAP_USED],
                      cell->values[HEAP_COMMITTED], cell->values[GC_MS]);
    output_c_string(output, "]}");
}

static bool write_processes(struct heap_work *work, uint64_t top, struct output *output)
{
    size_t count = 0, size = work->processes.size;
    struct heap_process *processes = calloc(size + 1, sizeof(*processes));
    if (processes == NULL)
        return false;
    count_collections(&work->heaps);
    sum_processes(&work->heaps, processes);
    for (uint32_t i = 0; i < size; i++) {
        processes[i].owner = i;
        if (processes[i].peak > 0)
            processes[count++] = processes[i];
    }
    if (count > 0)
        qsort(processes, count, sizeof(*processes), compare_processes);
    output_format(output, ",\"process_count\":%zu,\"processes\":[", count);
    for (size_t i = 0; i < count && i < top; i++) {
        output_c_string(output, i > 0 ? "," : "");
        write_process(work, &processes[i], output);
    }
    output_byte(output, ']');
    free(processes);
    return true;
}

/* ---- all processes, and classes ---- */

static int compare_steps(const void *left, const void *right)
{
    const struct step_cell *a = left, *b = right;
    return (a->step > b->step) - (a->step < b->step);
}

/* The sum of the largest of each process in a step; after the processes, whose order this undoes. */
static void write_total(struct heap_work *work, struct output *output)
{
    struct step_table *heaps = &work->heaps;
    if (heaps->count > 0)
        qsort(heaps->cells, heaps->count, sizeof(*heaps->cells), compare_steps);
    output_c_string(output, ",\"total\":[");
    const char *comma = "";
    for (size_t i = 0; i < heaps->count;) {
        int64_t step = heaps->cells[i].step;
        double sums[STEP_VALUES] = {0};
        size_t processes = 0;
        for (; i < heaps->count && heaps->cells[i].step == step; i++) {
            processes += heaps->cells[i].values[HEAP_USED] > 0;
            for (size_t which = 0; which < STEP_VALUES; which++)
                sums[which] += heaps->cells[i].values[which];
        }
        if (processes == 0)
            continue;
        output_format(output,
                      "%s{\"time_ms\":%lld,\"processes\":%zu,\"used_bytes\":%.0f,\"committed_bytes\":%.0f,"
                      "\"limit_bytes\":%.0f,\"gc_ms\":%.3f}",
                      comma, time_of(heaps, step), processes, sums[HEAP_USED], sums[HEAP_COMMITTED],
                      sums[HEAP_LIMIT], sums[GC_MS]);
        comma = ",";
    }
    output_byte(output, ']');
}

static void write_class(struct heap_work *work, const struct heap_class *class, struct output *output)
{
    output_c_string(output, "{\"type\":");
    json_text_write(output, string_table_text(&work->classes, class->owner));
    output_format(output, ",\"allocated_bytes\":%.0f,\"live_bytes\":%.0f,\"points\":[", class->allocated,
                  class->live);
    const struct step_cell *end, *cell = cells_of(&work->types, class->owner, &end);
    for (const char *comma = ""; cell < end; cell++, comma = ",")
        output_format(output, "%s{\"time_ms\":%lld,\"allocated_bytes\":%.0f,\"live_bytes\":%.0f}", comma,
                      time_of(&work->types, cell->step), cell->values[ALLOCATED], cell->values[LIVE]);
    output_c_string(output, "]}");
}

static bool write_classes(struct heap_work *work, uint64_t top, struct output *output)
{
    size_t count = 0, size = work->classes.size;
    struct heap_class *classes = calloc(size + 1, sizeof(*classes));
    if (classes == NULL)
        return false;
    for (size_t i = 0; i < work->types.count; i++) {
        const struct step_cell *cell = &work->types.cells[i];
        classes[cell->owner].allocated += cell->values[ALLOCATED];
        classes[cell->owner].live += cell->values[LIVE];
    }
    for (uint32_t i = 0; i < size; i++) {
        classes[i].owner = i;
        if (classes[i].allocated > 0 || classes[i].live > 0)
            classes[count++] = classes[i];
    }
    if (count > 0)
        qsort(classes, count, sizeof(*classes), compare_classes);
    output_format(output, ",\"type_count\":%zu,\"types\":[", count);
    for (size_t i = 0; i < count && i < top; i++) {
        output_c_string(output, i > 0 ? "," : "");
        write_class(work, &classes[i], output);
    }
    output_byte(output, ']');
    free(classes);
    return true;
}

/* ---- the whole ---- */

static bool write_all(struct heap_work *work, uint64_t top, struct output *output, struct error *error)
{
    output_format(output, "{\"step_ms\":%lld,\"skipped\":%llu", (long long)work->heaps.step_ms,
                  (unsigned long long)work->skipped);
    bool good = write_processes(work, top, output) && write_classes(work, top, output);
    write_total(work, output);
    output_c_string(output, "}\n");
    return good || error_set_memory(error);
}

bool query_heap_write(const char *store, const struct recording_query *query,
                      const struct profile_input_options *input, uint64_t top, struct output *output,
                      struct error *error)
{
    struct heap_work *work = calloc(1, sizeof(*work));
    if (work == NULL)
        return error_set_memory(error);
    work->input = input;
    work->query = *query;
    work->query.limit = PAGE_RECORDINGS;
    step_table_init(&work->heaps, FIRST_STEP_MS);
    step_table_init(&work->types, FIRST_STEP_MS);
    for (size_t i = HEAP_USED; i <= GC_MS; i++)
        work->heaps.keeps_largest[i] = true;
    bool good = (string_table_init(&work->processes, STRING_LIMIT_BYTES) &&
                 string_table_init(&work->classes, STRING_LIMIT_BYTES)) ||
                error_set_memory(error);
    good = good && sqlite_library_load(error) && (work->reader = store_reader_open(store, error)) != NULL &&
           add_recordings(work, error) && finish(work, error) && write_all(work, top, output, error);
    store_reader_close(work->reader);
    string_table_release(&work->processes);
    string_table_release(&work->classes);
    step_table_release(&work->heaps);
    step_table_release(&work->types);
    free(work);
    return good;
}
