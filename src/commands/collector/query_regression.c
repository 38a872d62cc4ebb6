#include "commands/collector/query_regression.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/id_map.h"
#include "base/json_text.h"
#include "collector/content.h"
#include "collector/libraries/sqlite_library.h"
#include "collector/store/store_reader.h"
#include "commands/collector/query_methods.h"
#include "commands/collector/store_profiles.h"
#include "spark/fleet/run_changes.h"

enum {
    PAGE_RECORDINGS = 64,
    APPLICATION_LIMIT = 1000000,
    SERIES_LIMIT = 10000000,
    CHANGE_LIMIT = 50,
    NAME_BYTES = 500
};
#define DAY_MS INT64_C(86400000)
#define NAME_LABEL TEXT("application_name")

struct run {
    char application[RECORDING_ID_BYTES + 1], attempt[RECORDING_ID_BYTES + 1];
    int64_t from_ms, to_ms; /* of its recordings that count */
    int64_t first_ms, last_ms;
    uint64_t executors, recordings, skipped;
};

struct regression_work {
    struct store_reader *reader;
    const char *group;
    struct run runs[REGRESSION_RUNS + 1]; /* the one that is compared, then earlier ones, the newest first */
    size_t count;
    char name[RECORDING_LABEL_VALUE_BYTES + 1]; /* "": unknown */
    int64_t since_ms;
    struct fleet_sums sums;
    struct stored_recording page[PAGE_RECORDINGS];
    size_t page_size;
    struct recording_query query; /* of the next page */
};

/* ---- which runs ---- */

static bool find_name(struct text_view lines, struct text_view *name)
{
    while (lines.size > 0) {
        *name = text_cut(&lines, '\n');
        if (text_equal(text_cut(name, '='), NAME_LABEL))
            return true;
    }
    return false;
}

static bool take_name(void *context, const struct recording_series *series)
{
    struct regression_work *work = context;
    struct text_view name;
    if (find_name(series->labels, &name) && name.size < sizeof(work->name))
        snprintf(work->name, sizeof(work->name), "%.*s", TEXT_FORMAT(name));
    return work->name[0] == '\0';
}

static bool take_now(void *context, const struct recording_sum *sum)
{
    struct regression_work *work = context;
    struct run *now = &work->runs[0];
    if (strcmp(sum->application, now->application) != 0 || strcmp(sum->attempt, now->attempt) != 0)
        return true;
    now->first_ms = sum->first_ms;
    now->last_ms = sum->last_ms;
    now->executors = sum->executors;
    work->count = 1;
    return false;
}

/* Applications that may be earlier runs. */
struct candidate_list {
    struct regression_work *work;
    struct run *runs;
    bool *have_name;
    size_t count, capacity;
    struct id_map index; /* by the hash of application and attempt */
    bool failed;
};

static uint64_t key_of(struct text_view application, struct text_view attempt)
{
    return hash_mix(hash_bytes(application.data, application.size) ^ HASH_SEED,
                    hash_bytes(attempt.data, attempt.size) ^ HASH_MULTIPLIER);
}

static bool take_candidate(void *context, const struct recording_sum *sum)
{
    struct candidate_list *list = context;
    const struct run *now = &list->work->runs[0];
    if (sum->first_ms >= now->first_ms || sum->first_ms < list->work->since_ms)
        return true;
    list->failed = !array_reserve(&list->runs, &list->capacity, list->count + 1, APPLICATION_LIMIT);
    if (list->failed)
        return false;
    struct run *run = &list->runs[list->count++];
    *run = (struct run){
        .to_ms = INT64_MAX, .first_ms = sum->first_ms, .last_ms = sum->last_ms, .executors = sum->executors};
    snprintf(run->application, sizeof(run->application), "%s", sum->application);
    snprintf(run->attempt, sizeof(run->attempt), "%s", sum->attempt);
    return true;
}

static int compare_runs(const void *left, const void *right)
{
    const struct run *a = left, *b = right;
    if (a->first_ms != b->first_ms)
        return a->first_ms > b->first_ms ? -1 : 1;
    int order = strcmp(a->application, b->application);
    return order != 0 ? order : strcmp(a->attempt, b->attempt);
}

static bool take_labels(void *context, const struct recording_series *series)
{
    struct candidate_list *list = context;
    struct text_view name;
    uint32_t number = id_map_get(&list->index, key_of(series->application, series->attempt));
    if (number != NO_ID && find_name(series->labels, &name) && text_equal(name, text_of(list->work->name)))
        list->have_name[number] = true;
    return true;
}

/* In one pass over the group: an application by itself cannot be looked up fast. */
static bool find_names(struct candidate_list *list, struct recording_index *index, struct error *error)
{
    struct recording_query query = {.group = list->work->group,
                                    .from_ms = list->work->since_ms,
                                    .to_ms = INT64_MAX,
                                    .limit = SERIES_LIMIT};
    bool good = true;
    list->have_name = calloc(list->count + 1, sizeof(*list->have_name));
    if (list->count > 0)
        qsort(list->runs, list->count, sizeof(*list->runs), compare_runs);
    for (size_t i = 0; good && i < list->count; i++) {
        const struct run *run = &list->runs[i];
        good =
            id_map_set(&list->index, key_of(text_of(run->application), text_of(run->attempt)), (uint32_t)i);
    }
    if (!good || list->have_name == NULL)
        return error_set_memory(error);
    return list->count == 0 || recording_index_each_series(index, &query, take_labels, list, error);
}

static bool find_earlier(struct regression_work *work, struct recording_index *index, struct error *error)
{
    struct candidate_list list = {.work = work};
    if (work->name[0] == '\0')
        return true;
    id_map_init(&list.index);
    bool good =
        recording_index_each_application(index, work->group, APPLICATION_LIMIT, take_candidate, &list, error);
    if (good && list.failed)
        good = error_set_memory(error);
    good = good && find_names(&list, index, error);
    for (size_t i = 0; good && i < list.count && work->count <= REGRESSION_RUNS; i++)
        if (list.have_name[i])
            work->runs[work->count++] = list.runs[i];
    id_map_release(&list.index);
    free(list.have_name);
    free(list.runs);
    return good;
}

/* The first of these windows may have begun before the application did. */
static void cut_into_days(struct regression_work *work)
{
    struct run whole = work->runs[0];
    int64_t end_ms = whole.last_ms + 1;
    for (work->count = 0; work->count <= REGRESSION_RUNS; work->count++, end_ms -= DAY_MS) {
        struct run *run = &work->runs[work->count];
        if (end_ms - DAY_MS < whole.first_ms || end_ms - DAY_MS < work->since_ms)
            break;
        *run = whole;
        run->from_ms = run->first_ms = end_ms - DAY_MS;
        run->to_ms = end_ms;
        run->last_ms = end_ms - 1;
    }
}

static bool find_runs(struct regression_work *work, const struct recording_query *query, uint64_t days,
                      struct error *error)
{
    struct run *now = &work->runs[0];
    struct recording_query series = *query;
    series.limit = APPLICATION_LIMIT;
    snprintf(now->application, sizeof(now->application), "%s", query->application);
    snprintf(now->attempt, sizeof(now->attempt), "%s", query->attempt == NULL ? "" : query->attempt);
    series.attempt = now->attempt;
    now->to_ms = INT64_MAX;
    struct recording_index *index = store_reader_lock(work->reader);
    bool good =
        recording_index_each_application(index, work->group, APPLICATION_LIMIT, take_now, work, error) &&
        recording_index_each_series(index, &series, take_name, work, error);
    if (good && work->count == 0)
        good = error_set(error, ERROR_BAD_INPUT, "no recordings match");
    if (good) {
        bool is_long = now->last_ms - now->first_ms >= DAY_MS;
        work->since_ms = (is_long ? now->last_ms : now->first_ms) - (int64_t)(days + is_long) * DAY_MS;
        if (is_long)
            cut_into_days(work);
        else
            good = find_earlier(work, index, error);
    }
    store_reader_unlock(work->reader);
    return good;
}

/* ---- what they took ---- */

static bool take_recording(void *context, const struct stored_recording *recording)
{
    struct regression_work *work = context;
    work->page[work->page_size++] = *recording;
    work->query.after = recording->number;
    return work->page_size < PAGE_RECORDINGS;
}

static bool add_recording(struct regression_work *work, struct run *run,
                          const struct stored_recording *recording, struct error *error)
{
    struct read_options read = {.threads = 1, .joins_java_kinds = true};
    struct error reading = {0};
    struct profile profile;
    char number[24];
    if (strcmp(recording->kind, CONTENT_EVENT_LOG) == 0)
        return true;
    snprintf(number, sizeof(number), "%zu", (size_t)(run - work->runs));
    struct fleet_place place = {text_of(work->group), text_of(number), text_of(recording->executor)};
    if (!profile_init(&profile, false, error))
        return false;
    bool good = store_profiles_read_body(work->reader, recording, &read, &profile, &reading) &&
                profile_place_stacks(&profile, &reading);
    run->recordings += good;
    run->skipped += !good;
    if (good)
        good = fleet_sums_add(&work->sums, &profile, &place, error);
    else if (reading.code == ERROR_MEMORY)
        *error = reading;
    else
        good = true;
    profile_release(&profile);
    return good;
}

static bool add_run(struct regression_work *work, struct run *run, struct error *error)
{
    bool good = true;
    work->query = (struct recording_query){.group = work->group,
                                           .application = run->application,
                                           .attempt = run->attempt,
                                           .from_ms = run->from_ms,
                                           .to_ms = run->to_ms,
                                           .limit = PAGE_RECORDINGS};
    do {
        work->page_size = 0;
        struct recording_index *index = store_reader_lock(work->reader);
        good = recording_index_each(index, &work->query, take_recording, work, error);
        store_reader_unlock(work->reader);
        for (size_t i = 0; good && i < work->page_size; i++)
            good = add_recording(work, run, &work->page[i], error);
    } while (good && work->page_size == PAGE_RECORDINGS);
    return good;
}

/* ---- JSON ---- */

static void write_text(struct output *output, const char *before, const char *text)
{
    output_c_string(output, before);
    json_text_write(output, text_of(text));
}

static void write_run(const struct run *run, const struct run_totals *totals, struct output *output)
{
    write_text(output, "{\"application\":", run->application);
    write_text(output, ",\"attempt\":", run->attempt);
    output_format(
        output,
        ",\"first_ms\":%lld,\"last_ms\":%lld,\"executors\":%llu,\"recordings\":%llu,\"skipped\":%llu,"
        "\"cpu_ms\":%.3f,\"wall_ms\":%.3f,\"alloc_bytes\":%.0f}",
        (long long)run->first_ms, (long long)run->last_ms, (unsigned long long)run->executors,
        (unsigned long long)run->recordings, (unsigned long long)run->skipped, totals->cpu_ms,
        totals->wall_ms, totals->alloc_bytes);
}

static void write_change(const struct run_change *item, const struct fleet_sums *sums, struct output *output)
{
    static const char *const verdicts[] = {"same", "more", "less", "unknown"};
    const struct measure_change *change = &item->change;
    output_format(
        output, "{\"of\":\"%s\",\"measure\":\"%s\",\"method\":", item->method == NO_STRING ? "run" : "method",
        item->event == FLEET_ALLOC ? "alloc_bytes" : "cpu_ms");
    struct text_view name = item->method == NO_STRING ? TEXT("") : fleet_text(sums, item->method);
    json_text_write(output, text_part(name, 0, name.size < NAME_BYTES ? name.size : NAME_BYTES));
    output_format(output,
                  ",\"verdict\":\"%s\",\"is_regression\":%s,\"now\":%.3f,\"median\":%.3f,\"spread\":%.3f,"
                  "\"distance\":%.2f,\"runs\":%zu,\"run_now\":%.3f,\"run_median\":%.3f}",
                  verdicts[change->verdict], item->is_regression ? "true" : "false", change->now,
                  change->median, change->spread, change->z, change->runs, item->whole_now,
                  item->whole_before);
}

static const char *verdict_of(const struct run_changes *changes)
{
    bool is_known = false;
    for (size_t i = 0; i < changes->count; i++) {
        if (changes->items[i].is_regression)
            return "regression";
        is_known = is_known || changes->items[i].change.verdict != CHANGE_UNKNOWN;
    }
    return is_known ? "none" : "unknown";
}

static void write_all(const struct regression_work *work, const struct run_changes *changes, uint64_t days,
                      struct output *output)
{
    output_format(output, "{\"verdict\":\"%s\",\"days\":%llu", verdict_of(changes), (unsigned long long)days);
    write_text(output, ",\"group\":", work->group);
    write_text(output, ",\"name\":", work->name);
    output_c_string(output, ",\"run\":");
    write_run(&work->runs[0], &changes->totals[0], output);
    output_c_string(output, ",\"earlier\":[");
    for (size_t i = 1; i < work->count; i++) {
        output_c_string(output, i > 1 ? "," : "");
        write_run(&work->runs[i], &changes->totals[i], output);
    }
    output_c_string(output, "],\"changes\":[");
    for (size_t i = 0; i < changes->count && i < CHANGE_LIMIT; i++) {
        output_c_string(output, i > 0 ? "," : "");
        write_change(&changes->items[i], changes->sums, output);
    }
    output_c_string(output, "]}\n");
}

static bool compare(struct regression_work *work, uint64_t days, struct output *output, struct error *error)
{
    static const struct fleet_options options = {
        .interval_ns = {[FLEET_CPU] = QUERY_CPU_INTERVAL_NS, [FLEET_WALL] = QUERY_WALL_INTERVAL_NS},
        .since = FLEET_NO_DAY,
        .until = FLEET_NO_DAY};
    struct run_changes changes = {.sums = NULL};
    bool good = fleet_sums_init(&work->sums, &options, error);
    for (size_t i = 0; good && i < work->count; i++)
        good = add_run(work, &work->runs[i], error);
    good = good && run_changes_find(&changes, &work->sums, work->count, error);
    if (good)
        write_all(work, &changes, days, output);
    run_changes_release(&changes);
    fleet_sums_release(&work->sums);
    return good;
}

bool query_regression_write(const char *store, const struct recording_query *query, uint64_t days,
                            struct output *output, struct error *error)
{
    struct regression_work *work = calloc(1, sizeof(*work));
    if (work == NULL)
        return error_set_memory(error);
    work->group = query->group;
    bool good = sqlite_library_load(error) && (work->reader = store_reader_open(store, error)) != NULL &&
                find_runs(work, query, days, error) && compare(work, days, output, error);
    store_reader_close(work->reader);
    free(work);
    return good;
}
