/*
 * route_series.c - GET /v1/series and /v1/labels: what there is to ask for.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/json_text.h"
#include "collector/route.h"
#include "collector/route_parameters.h"

enum { STEPS_DEFAULT = 120, STEP_LIMIT = 5000, LABELS_LIMIT = 10000 };

/* ---- recordings over time ---- */

struct step_listing {
    struct output *output;
    size_t count;
};

static bool write_step(void *context, const struct recording_step *step)
{
    struct step_listing *listing = context;
    output_format(
        listing->output, "%s{\"time_ms\":%lld,\"recordings\":%llu,\"bytes\":%llu,\"executors\":%llu}",
        listing->count++ > 0 ? "," : "", (long long)step->time_ms, (unsigned long long)step->recordings,
        (unsigned long long)step->bytes, (unsigned long long)step->executors);
    return true;
}

/* Narrows the query to where its recordings are. */
static bool narrow(struct recording_index *index, struct recording_query *query, struct error *error)
{
    int64_t first_ms, last_ms;
    if (!recording_index_span(index, query, &first_ms, &last_ms, error))
        return false;
    query->from_ms = query->from_ms > first_ms ? query->from_ms : first_ms;
    query->to_ms = query->to_ms < last_ms + 1 ? query->to_ms : last_ms + 1;
    if (query->to_ms < query->from_ms)
        query->to_ms = query->from_ms;
    return true;
}

/* The step if none is asked for: a whole number of seconds. */
static int64_t default_step(const struct recording_query *query)
{
    int64_t step_ms = (query->to_ms - query->from_ms) / STEPS_DEFAULT;
    return (step_ms / 1000 + 1) * 1000;
}

bool route_list_series(struct admitted *admitted, struct http_request *request)
{
    struct output output;
    struct error error = {0};
    struct step_listing listing = {&output, 0};
    struct recording_query query;
    uint64_t step;
    if (!route_read_selection(request, &query) ||
        !route_read_number(request, "step_ms", INT64_MAX, 0, &step) || !answer_begin(request, &output))
        return true;
    struct recording_index *index = store_reader_lock(admitted->collector->reader);
    bool good = narrow(index, &query, &error);
    int64_t step_ms = step > 0 ? (int64_t)step : default_step(&query);
    bool is_short = (query.to_ms - query.from_ms) / step_ms < STEP_LIMIT;
    output_format(&output, "{\"from_ms\":%lld,\"to_ms\":%lld,\"step_ms\":%lld,\"series\":[",
                  (long long)query.from_ms, (long long)query.to_ms, (long long)step_ms);
    good = good &&
           (!is_short || recording_index_each_step(index, &query, step_ms, write_step, &listing, &error));
    store_reader_unlock(admitted->collector->reader);
    output_c_string(&output, "]}\n");
    answer_end(request, &output, good, &error);
    if (good && !is_short)
        http_request_fail(request, 400, "step_ms: there would be more than %d steps", STEP_LIMIT);
    return true;
}

/* ---- labels ---- */

struct label_listing {
    char **items; /* "name=value" */
    size_t size, capacity;
    bool failed;
};

static bool add_labels(void *context, struct text_view labels)
{
    struct label_listing *listing = context;
    while (labels.size > 0 && !listing->failed) {
        struct text_view label = text_cut(&labels, '\n');
        char *copy = strndup(label.data, label.size);
        listing->failed = copy == NULL || !array_reserve(&listing->items, &listing->capacity,
                                                         listing->size + 1, SIZE_MAX / 2);
        if (listing->failed)
            free(copy);
        else
            listing->items[listing->size++] = copy;
    }
    return !listing->failed;
}

static int compare_items(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

/* Values of one name stand together, since the name with its "=" is what begins them. */
static void write_labels(struct output *output, struct label_listing *listing)
{
    struct text_view last_name = TEXT("");
    size_t values = 0;
    if (listing->size > 0)
        qsort(listing->items, listing->size, sizeof(*listing->items), compare_items);
    output_c_string(output, "{\"labels\":[");
    for (size_t i = 0; i < listing->size; i++) {
        struct text_view value = text_of(listing->items[i]), name = text_cut(&value, '=');
        bool is_new = i == 0 || !text_equal(name, last_name);
        if (!is_new && strcmp(listing->items[i], listing->items[i - 1]) == 0)
            continue;
        if (is_new) {
            output_c_string(output, i == 0 ? "{\"name\":" : "]},{\"name\":");
            json_text_write(output, name);
            output_c_string(output, ",\"values\":[");
            values = 0;
        }
        output_c_string(output, values++ > 0 ? "," : "");
        json_text_write(output, value);
        last_name = name;
    }
    output_c_string(output, listing->size > 0 ? "]}]}\n" : "]}\n");
}

bool route_list_labels(struct admitted *admitted, struct http_request *request)
{
    struct output output;
    struct error error = {0};
    struct label_listing listing = {.items = NULL};
    struct recording_query query;
    if (!route_read_selection(request, &query) ||
        !route_read_number(request, "limit", LABELS_LIMIT, LABELS_LIMIT, &query.limit) ||
        !answer_begin(request, &output))
        return true;
    struct recording_index *index = store_reader_lock(admitted->collector->reader);
    bool good = recording_index_each_labels(index, &query, add_labels, &listing, &error);
    store_reader_unlock(admitted->collector->reader);
    if (listing.failed)
        good = error_set_memory(&error);
    write_labels(&output, &listing);
    for (size_t i = 0; i < listing.size; i++)
        free(listing.items[i]);
    free(listing.items);
    return answer_end(request, &output, good, &error);
}
