#include "commands/collector/store_series.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/array.h"
#include "collector/libraries/sqlite_library.h"
#include "collector/querier_series.h"
#include "collector/store/store_reader.h"
#include "commands/collector/store_profiles.h"

enum { PAGE_RECORDINGS = 64, VALUES_BYTES = 1 << 15 };
#define ARENA_BYTES ((size_t)1 << 30)
#define ROW_LIMIT ((size_t)1 << 26)

struct series_row {
    int64_t time_ms;
    double sum;
    struct text_view values;
};

struct series_work {
    const struct profile_input_options *input;
    const struct series_options *options;
    struct store_reader *reader;
    struct recording_query query; /* of the next page */
    struct stored_recording page[PAGE_RECORDINGS];
    size_t page_size;
    struct series_row *rows;
    size_t count, capacity;
    struct arena arena;
};

/* Counts, or values in the event's unit: of an event that is recorded both ways, those that have one. */
static double sum_of(const struct series_work *work, const struct profile *profile)
{
    const struct profile_input_options *input = work->input;
    bool by_value = input->weight == WEIGHT_VALUE;
    double sum = 0;
    for (size_t i = 0; i < profile->sample_count; i++) {
        const struct sample *sample = &profile->samples[i];
        const struct event *event = &profile->events[sample->event];
        if ((input->event != NULL &&
             !text_equal(profile_text(profile, event->name), text_of(input->event))) ||
            (by_value && event->unit == UNIT_COUNT))
            continue;
        sum += weight_of(profile, sample, (enum weight)input->weight);
    }
    return sum;
}

static bool set_values(struct series_work *work, const struct stored_recording *recording,
                       struct text_view *to, struct error *error)
{
    struct recording_series known = {text_of(recording->application), text_of(recording->attempt),
                                     text_of(recording->executor), text_of(recording->kind),
                                     text_of(recording->labels)};
    struct querier_series series = {&known, NULL};
    struct text_view names = text_of(work->options->split_by);
    struct text_builder values;
    text_builder_init(&values, VALUES_BYTES);
    while (names.size > 0) {
        text_builder_add_byte(&values, '\t');
        text_builder_add(&values, querier_series_label(&series, text_cut(&names, ',')));
    }
    bool good = !values.failed;
    *to = good ? arena_copy_text(&work->arena, text_builder_view(&values)) : TEXT("");
    text_builder_release(&values);
    if (!good)
        return error_set(error, ERROR_MEMORY, "the values of --split-by are too long");
    return to->data != NULL || error_set_memory(error);
}

static bool add_row(struct series_work *work, const struct stored_recording *recording, double sum,
                    struct error *error)
{
    int64_t step_ms = (int64_t)work->options->step_ms;
    struct series_row row = {.time_ms = recording->received_ms / step_ms * step_ms, .sum = sum};
    if (!set_values(work, recording, &row.values, error))
        return false;
    if (!array_reserve(&work->rows, &work->capacity, work->count + 1, ROW_LIMIT))
        return error_set_memory(error);
    work->rows[work->count++] = row;
    return true;
}

static bool add_recording(struct series_work *work, const struct stored_recording *recording,
                          struct error *error)
{
    struct read_options read = {.threads = 1, .event = text_of(work->input->event)};
    struct error reading = {0};
    struct profile profile;
    bool good = true;
    if (!profile_init(&profile, false, error))
        return false;
    if (store_profiles_read_body(work->reader, recording, &read, &profile, &reading)) {
        double sum = sum_of(work, &profile);
        good = sum == 0 || add_row(work, recording, sum, error);
    } else if (reading.code == ERROR_MEMORY) {
        *error = reading;
        good = false;
    }
    profile_release(&profile);
    return good;
}

static bool take_recording(void *context, const struct stored_recording *recording)
{
    struct series_work *work = context;
    work->page[work->page_size++] = *recording;
    work->query.after = recording->number;
    return work->page_size < PAGE_RECORDINGS;
}

static bool add_recordings(struct series_work *work, struct error *error)
{
    bool good = true;
    do {
        work->page_size = 0;
        struct recording_index *index = store_reader_lock(work->reader);
        good = recording_index_each(index, &work->query, take_recording, work, error);
        store_reader_unlock(work->reader);
        for (size_t i = 0; good && i < work->page_size; i++)
            good = !store_profiles_wants(work->input, &work->page[i], true) ||
                   add_recording(work, &work->page[i], error);
    } while (good && work->page_size == PAGE_RECORDINGS);
    return good;
}

static int compare_rows(const void *left_row, const void *right_row)
{
    const struct series_row *left = left_row, *right = right_row;
    int order = text_compare(left->values, right->values);
    if (order != 0)
        return order;
    return left->time_ms < right->time_ms ? -1 : left->time_ms > right->time_ms;
}

static void write_rows(struct series_work *work, struct output *output)
{
    if (work->count > 0)
        qsort(work->rows, work->count, sizeof(*work->rows), compare_rows);
    for (size_t i = 0; i < work->count;) {
        const struct series_row *first = &work->rows[i];
        double sum = 0;
        for (; i < work->count && compare_rows(first, &work->rows[i]) == 0; i++)
            sum += work->rows[i].sum;
        output_format(output, "%lld\t%.17g", (long long)first->time_ms, sum);
        output_text(output, first->values);
        output_byte(output, '\n');
    }
}

bool store_series_write(const char *store, const struct recording_query *query,
                        const struct profile_input_options *input, const struct series_options *options,
                        struct output *output, struct error *error)
{
    struct series_work *work = calloc(1, sizeof(*work));
    if (work == NULL)
        return error_set_memory(error);
    work->input = input;
    work->options = options;
    work->query = *query;
    work->query.limit = PAGE_RECORDINGS;
    arena_init(&work->arena, ARENA_BYTES);
    bool good = sqlite_library_load(error) && (work->reader = store_reader_open(store, error)) != NULL &&
                add_recordings(work, error);
    if (good)
        write_rows(work, output);
    store_reader_close(work->reader);
    arena_release(&work->arena);
    free(work->rows);
    free(work);
    return good;
}
