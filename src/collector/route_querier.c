/*
 * route_querier.c - POST /querier.v1.QuerierService/…, the part of Pyroscope's interface for queries that Grafana and
 * profilecli need, in the unary form of the Connect protocol. Profiles come from `sparkflame query`, as for GET
 * /v1/profile.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "collector/content.h"
#include "collector/label_matcher.h"
#include "collector/querier_answer.h"
#include "collector/querier_call.h"
#include "collector/querier_series.h"
#include "collector/route.h"
#include "collector/route_queries.h"
#include "input/byte_source.h"

/* Different series that are looked through. */
enum { SERIES_LIMIT = 100000, ROW_LIMIT = 1000000, ARGUMENT_BYTES = 100000 };
/* Bytes of a row of labels. */
enum { ROW_BYTES = 8192 };
/* Boxes of a flame graph, as Pyroscope has it. */
enum { NODES_DEFAULT = 8192 };
enum { STEP_DEFAULT_MS = 15000, LONGEST_STEP_MS = 1000000000 };

/* ---- the call ---- */

static bool is_type(const struct http_request *request, const char *type)
{
    const char *given = http_request_header(request, "Content-Type");
    size_t size = given == NULL ? 0 : strcspn(given, "; ");
    return size == strlen(type) && strncasecmp(given, type, size) == 0;
}

static const char *content_type(bool is_json)
{
    return is_json ? "application/json" : "application/proto";
}

/* False: the answer is set. Release the call in either case. */
static bool read_call(struct http_request *request, enum querier_method method, struct querier_call *call,
                      struct label_matchers *matchers)
{
    const char *encoding = http_request_header(request, "Content-Encoding");
    struct text_view body = text_builder_view(&request->body);
    struct byte_source *source = NULL;
    struct error error = {0};
    bool is_json = is_type(request, content_type(true));
    *call = (struct querier_call){.method = method};
    matchers->count = 0;
    if (!is_json && !is_type(request, content_type(false)))
        return http_request_fail(request, 415,
                                 "the content type is not application/proto or application/json");
    if (encoding != NULL && strcasecmp(encoding, "gzip") != 0 && strcasecmp(encoding, "identity") != 0)
        return http_request_fail(request, 415, "the content encoding is neither gzip nor identity");
    bool is_packed = encoding != NULL && strcasecmp(encoding, "gzip") == 0;
    bool good = !is_packed || ((source = byte_source_open_memory(body, "the message", &error)) != NULL &&
                               byte_source_all(source, QUERIER_CALL_BYTES, &body, &error));
    good = good && querier_call_read(call, method, is_json, body, &error);
    for (size_t i = 0; good && i < call->selectors.count; i++)
        good = label_matchers_add(matchers, call->selectors.items[i], &call->arena, &error);
    byte_source_close(source);
    return good || http_request_fail(request, 400, "%s", error.message);
}

static struct recording_query selection_of(const struct admitted *admitted, const struct querier_call *call)
{
    return (struct recording_query){.group = admitted->group,
                                    .from_ms = (int64_t)call->start_ms,
                                    .to_ms = call->end_ms > 0 ? (int64_t)call->end_ms : INT64_MAX,
                                    .limit = SERIES_LIMIT + 1};
}

/* ---- lists ---- */

struct listing {
    const struct querier_call *call;
    const struct label_matchers *matchers;
    const struct querier_series *series; /* the present one */
    char **rows;
    size_t count, capacity;
    char row[ROW_BYTES];
    size_t row_size;
    bool failed;
};

static bool add_row(struct listing *listing, struct text_view row)
{
    char *copy = row.size > 0 ? strndup(row.data, row.size) : NULL;
    if (row.size == 0)
        return true;
    if (copy == NULL || !array_reserve(&listing->rows, &listing->capacity, listing->count + 1, ROW_LIMIT)) {
        free(copy);
        listing->failed = true;
        return false;
    }
    listing->rows[listing->count++] = copy;
    return true;
}

static bool take_label_name(void *context, struct text_view name, struct text_view value)
{
    return add_row(context, name);
}

static bool is_asked_for(const struct querier_texts *names, struct text_view name)
{
    for (size_t i = 0; i < names->count; i++)
        if (text_equal(names->items[i], name))
            return true;
    return names->count == 0;
}

static bool take_pair(void *context, struct text_view name, struct text_view value)
{
    struct listing *listing = context;
    if (!is_asked_for(&listing->call->label_names, name) ||
        listing->row_size + name.size + value.size + 2 > sizeof(listing->row))
        return true;
    listing->row_size +=
        (size_t)snprintf(listing->row + listing->row_size, sizeof(listing->row) - listing->row_size,
                         "%.*s=%.*s\n", TEXT_FORMAT(name), TEXT_FORMAT(value));
    return true;
}

static bool take_listed(struct listing *listing, const struct querier_series *series)
{
    switch (listing->call->method) {
    case QUERIER_PROFILE_TYPES:
        return add_row(listing, text_of(series->type->id));
    case QUERIER_LABEL_NAMES:
        return querier_series_each_label(series, take_label_name, listing);
    case QUERIER_LABEL_VALUES:
        return add_row(listing, querier_series_label(series, listing->call->name));
    default:
        listing->row_size = 0;
        querier_series_each_label(series, take_pair, listing);
        return add_row(listing, (struct text_view){listing->row, listing->row_size});
    }
}

static bool take_type(void *context, const struct profile_type *type)
{
    struct listing *listing = context;
    struct querier_series series = {listing->series->recording, type};
    return !querier_series_matches(&series, listing->matchers) || take_listed(listing, &series);
}

static bool take_series(void *context, const struct recording_series *recording)
{
    struct listing *listing = context;
    struct querier_series series = {recording, NULL};
    if (text_equal(recording->kind, TEXT(CONTENT_EVENT_LOG)))
        return true;
    listing->series = &series;
    return profile_type_each(recording->kind, querier_events(recording), take_type, listing) ||
           !listing->failed;
}

static int compare_rows(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

static void sort_rows(struct listing *listing)
{
    size_t count = 0;
    if (listing->count > 0)
        qsort(listing->rows, listing->count, sizeof(*listing->rows), compare_rows);
    for (size_t i = 0; i < listing->count; i++) {
        if (count > 0 && strcmp(listing->rows[count - 1], listing->rows[i]) == 0)
            free(listing->rows[i]);
        else
            listing->rows[count++] = listing->rows[i];
    }
    listing->count = count;
}

struct series_scan {
    bool (*take)(void *context, const struct recording_series *series);
    void *context;
    size_t count;
};

static bool take_scanned(void *context, const struct recording_series *series)
{
    struct series_scan *scan = context;
    return ++scan->count <= SERIES_LIMIT && scan->take(scan->context, series);
}

/* ERROR_UNSUPPORTED: there are too many. */
static bool each_series(struct admitted *admitted, const struct querier_call *call,
                        bool (*take)(void *context, const struct recording_series *series), void *context,
                        struct error *error)
{
    struct recording_query selection = selection_of(admitted, call);
    struct recording_index *index = store_reader_lock(admitted->collector->series_reader);
    struct series_scan scan = {take, context, 0};
    bool good = recording_index_each_series(index, &selection, take_scanned, &scan, error);
    store_reader_unlock(admitted->collector->series_reader);
    if (good && scan.count > SERIES_LIMIT)
        good = error_set(error, ERROR_UNSUPPORTED,
                         "there are more than %d sets of labels: choose a shorter time", SERIES_LIMIT);
    return good;
}

static void answer_list(struct admitted *admitted, struct http_request *request, struct querier_call *call,
                        struct listing *listing)
{
    struct error error = {0};
    bool good = each_series(admitted, call, take_series, listing, &error);
    if (listing->failed)
        good = error_set(&error, ERROR_MEMORY, "the list is too long: ask for less");
    sort_rows(listing);
    good = good && querier_write_rows(call->method, call->is_json, listing->rows, listing->count,
                                      &request->answer.body, &error);
    if (!good) {
        http_request_fail(
            request,
            listing->failed || error.code == ERROR_UNSUPPORTED || error.code == ERROR_MEMORY ? 422 : 500,
            "%s", error.message);
        return;
    }
    request->answer.status = 200;
    request->answer.content_type = content_type(call->is_json);
}

static bool list(struct admitted *admitted, struct http_request *request, enum querier_method method)
{
    struct querier_call call;
    struct label_matchers matchers;
    struct listing *listing = calloc(1, sizeof(*listing));
    if (listing == NULL) {
        http_request_fail_busy(request, "out of memory");
        return true;
    }
    if (read_call(request, method, &call, &matchers)) {
        listing->call = &call;
        listing->matchers = &matchers;
        answer_list(admitted, request, &call, listing);
    }
    for (size_t i = 0; i < listing->count; i++)
        free(listing->rows[i]);
    free(listing->rows);
    free(listing);
    querier_call_release(&call);
    return true;
}

bool route_querier_profile_types(struct admitted *admitted, struct http_request *request)
{
    return list(admitted, request, QUERIER_PROFILE_TYPES);
}

bool route_querier_label_names(struct admitted *admitted, struct http_request *request)
{
    return list(admitted, request, QUERIER_LABEL_NAMES);
}

bool route_querier_label_values(struct admitted *admitted, struct http_request *request)
{
    return list(admitted, request, QUERIER_LABEL_VALUES);
}

bool route_querier_series(struct admitted *admitted, struct http_request *request)
{
    return list(admitted, request, QUERIER_SERIES);
}

/* ---- profiles ---- */

/* What a matcher lets through, as the value of an option. */
struct narrowing {
    struct text_builder values;                /* with commas between them */
    char name[RECORDING_LABEL_NAME_BYTES + 1]; /* as it is stored */
    bool excludes;                             /* some recordings */
    bool takes_absent;                         /* recordings without the label */
    bool has_comma;
};

struct choosing {
    const struct label_matchers *matchers;
    const struct profile_type *type;
    struct narrowing of[MATCHER_LIMIT];
    size_t found;
};

static bool is_listed(struct text_view list, struct text_view value)
{
    while (list.size > 0)
        if (text_equal(text_cut(&list, ','), value))
            return true;
    return false;
}

static void narrow(struct narrowing *narrowing, struct text_view name, struct text_view value,
                   const struct recording_series *recording)
{
    narrowing->takes_absent = narrowing->takes_absent || value.size == 0;
    narrowing->has_comma = narrowing->has_comma || text_find_byte(value, ',') != TEXT_NOT_FOUND;
    if (value.size == 0 || narrowing->values.failed ||
        is_listed(text_builder_view(&narrowing->values), value))
        return;
    if (narrowing->values.size > 0)
        text_builder_add_byte(&narrowing->values, ',');
    text_builder_add(&narrowing->values, value);
    snprintf(narrowing->name, sizeof(narrowing->name), "%.*s",
             TEXT_FORMAT(querier_stored_name(recording, name)));
}

static bool has_type(void *context, const struct profile_type *type)
{
    const struct choosing *choosing = context;
    /* True as long as it was not found. */
    return strcmp(type->id, choosing->type->id) != 0;
}

static bool choose_series(void *context, const struct recording_series *recording)
{
    struct choosing *choosing = context;
    const struct label_matchers *matchers = choosing->matchers;
    struct querier_series series = {recording, choosing->type};
    bool matches = true;
    if (text_equal(recording->kind, TEXT(CONTENT_EVENT_LOG)))
        return true;
    for (size_t i = 0; i < matchers->count; i++) {
        struct text_view value = querier_series_label(&series, matchers->items[i].name);
        if (!label_matcher_matches(&matchers->items[i], value)) {
            choosing->of[i].excludes = true;
            matches = false;
        }
    }
    /* The query reads also recordings that do not list the type, so they are excluded above. */
    if (matches && profile_type_each(recording->kind, querier_events(recording), has_type, choosing))
        return true;
    for (size_t i = 0; matches && i < matchers->count; i++)
        narrow(&choosing->of[i], matchers->items[i].name,
               querier_series_label(&series, matchers->items[i].name), recording);
    choosing->found += matches;
    return true;
}

/* These are chosen by an option even if nothing else is there: recordings may arrive before the query reads. */
static bool names_id(const struct label_matcher *matcher)
{
    return !matcher->is_negative && !matcher->is_pattern && matcher->value.size > 0 &&
           (text_equal(matcher->name, TEXT("service_name")) || text_equal(matcher->name, TEXT("executor")) ||
            text_equal(matcher->name, TEXT("attempt")));
}

static bool add_narrowing(struct query *query, struct narrowing *narrowing,
                          const struct label_matcher *matcher, struct error *error)
{
    struct text_view name = matcher->name;
    if ((!narrowing->excludes && !names_id(matcher)) || text_starts_with(name, TEXT("__")))
        return true;
    if (narrowing->takes_absent)
        return error_set(error, ERROR_BAD_INPUT,
                         "a matcher takes recordings without the label %.*s, and excludes others",
                         TEXT_FORMAT(name));
    if (narrowing->has_comma)
        return error_set(error, ERROR_BAD_INPUT, "a value of the label %.*s has a comma", TEXT_FORMAT(name));
    if (narrowing->values.failed)
        return error_set(error, ERROR_BAD_INPUT, "too many values of the label %.*s", TEXT_FORMAT(name));
    if (text_equal(name, TEXT("attempt")) &&
        text_find_byte(text_builder_view(&narrowing->values), ',') != TEXT_NOT_FOUND)
        return error_set(error, ERROR_BAD_INPUT, "only one attempt can be chosen");
    const char *values = text_builder_c_string(&narrowing->values);
    if (text_equal(name, TEXT("service_name")))
        query_argument(&query->arguments, "--application", values);
    else if (text_equal(name, TEXT("executor")))
        query_argument(&query->arguments, "--executor", values);
    else if (text_equal(name, TEXT("attempt")))
        query_argument(&query->arguments, "--attempt", values);
    else {
        struct text_builder label;
        text_builder_init(&label, ARGUMENT_BYTES + sizeof(narrowing->name));
        text_builder_format(&label, "%s=%s", narrowing->name, values);
        query_argument(&query->arguments, "--label", text_builder_c_string(&label));
        text_builder_release(&label);
    }
    return true;
}

/* Which recordings the matchers choose, as arguments of the query: all values of a label that a matcher takes.
 * *found is false if there are none. */
static bool add_arguments(struct admitted *admitted, const struct querier_call *call,
                          const struct label_matchers *matchers, const struct profile_type *type, bool *found,
                          struct error *error)
{
    struct choosing *choosing = calloc(1, sizeof(*choosing));
    if (choosing == NULL)
        return error_set_memory(error);
    choosing->matchers = matchers;
    choosing->type = type;
    for (size_t i = 0; i < MATCHER_LIMIT; i++)
        text_builder_init(&choosing->of[i].values, ARGUMENT_BYTES);
    bool good = each_series(admitted, call, choose_series, choosing, error);
    *found = choosing->found > 0;
    for (size_t i = 0; good && *found && i < matchers->count; i++)
        good = add_narrowing(&admitted->query, &choosing->of[i], &matchers->items[i], error);
    for (size_t i = 0; i < MATCHER_LIMIT; i++)
        text_builder_release(&choosing->of[i].values);
    free(choosing);
    return good;
}

/* What matches nothing is an empty message. */
static void answer_empty(struct http_request *request)
{
    bool is_json = is_type(request, content_type(true));
    request->answer.status = 200;
    request->answer.content_type = content_type(is_json);
    if (is_json)
        text_builder_add_c_string(&request->answer.body, "{}\n");
}

static bool is_about_nothing(const struct query *query)
{
    return query->outcome == CHILD_FAILED && (strstr(query->error.message, "no samples") != NULL ||
                                              strstr(query->error.message, "no recordings match") != NULL);
}

static void on_graph(struct query *query)
{
    struct http_request *request = query->context;
    struct error error = {0};
    bool is_json = is_type(request, content_type(true));
    request->answer.status = 200;
    request->answer.content_type = content_type(is_json);
    if (is_about_nothing(query))
        answer_empty(request);
    else if (query->outcome != CHILD_GOOD)
        route_answer_failure(request, query);
    else if (!http_request_reserve(request, query->answer.size * 2))
        http_request_fail_busy(request, "too many bodies at a time");
    else if (!querier_write_graph(text_builder_view(&query->answer), is_json, &request->answer.body, &error))
        http_request_fail(request, 500, "%s", error.message);
    http_request_finish(request);
}

/* The message Profile of pprof, which the query compressed. */
static void answer_profile(struct http_request *request, struct query *query)
{
    struct error error = {0};
    struct text_view all;
    struct text_builder *body = &request->answer.body;
    struct byte_source *source =
        byte_source_open_memory(text_builder_view(&query->answer), "the profile", &error);
    if (source == NULL || !byte_source_all(source, query->answer.limit_bytes, &all, &error)) {
        if (content_lacks_memory(&error))
            http_request_fail_busy(request, error.message);
        else
            http_request_fail(request, error.code == ERROR_MEMORY ? 422 : 500, "the profile: %s",
                              error.message);
    } else if (!http_request_reserve(request, all.size)) {
        http_request_fail_busy(request, "too many bodies at a time");
    } else {
        request->answer.status = 200;
        request->answer.content_type = content_type(false);
        text_builder_add(body, all);
        if (body->failed)
            http_request_fail_busy(request, "out of memory");
    }
    byte_source_close(source);
}

static void on_profile(struct query *query)
{
    struct http_request *request = query->context;
    if (is_about_nothing(query))
        answer_empty(request);
    else if (query->outcome != CHILD_GOOD)
        route_answer_failure(request, query);
    else
        answer_profile(request, query);
    http_request_finish(request);
}

/* The message names the labels once more. */
static void on_points(struct query *query)
{
    struct http_request *request = query->context;
    struct querier_call call;
    struct label_matchers matchers;
    struct error error = {0};
    bool is_json = is_type(request, content_type(true));
    if (query->outcome != CHILD_GOOD) {
        route_answer_failure(request, query);
    } else if (!http_request_reserve(request, query->answer.size * 4)) {
        http_request_fail_busy(request, "too many bodies at a time");
    } else {
        request->answer.status = 200;
        request->answer.content_type = content_type(is_json);
        if (read_call(request, QUERIER_SELECT_SERIES, &call, &matchers) &&
            !querier_write_points(text_builder_view(&query->answer), &call.label_names, is_json,
                                  &request->answer.body, &error))
            http_request_fail(request, 500, "%s", error.message);
        querier_call_release(&call);
    }
    http_request_finish(request);
}

/* The type may be a matcher, too. */
static bool read_profile_type(const struct querier_call *call, const struct label_matchers *matchers,
                              struct profile_type *type, struct error *error)
{
    struct text_view id = call->profile_type;
    for (size_t i = 0; id.size == 0 && i < matchers->count; i++)
        if (text_equal(matchers->items[i].name, TEXT("__profile_type__")) &&
            !matchers->items[i].is_negative && !matchers->items[i].is_pattern)
            id = matchers->items[i].value;
    return profile_type_read(type, id, error);
}

static void add_number(struct query *query, const char *option, uint64_t number)
{
    char text[24];
    snprintf(text, sizeof(text), "%llu", (unsigned long long)number);
    query_argument(&query->arguments, option, text);
}

/* Sums over time, split by the labels that the call groups by. */
static void add_steps(struct query *query, const struct querier_call *call)
{
    double step_ms = call->step_s * 1000;
    struct text_builder names;
    text_builder_init(&names, ARGUMENT_BYTES);
    for (size_t i = 0; i < call->label_names.count; i++) {
        text_builder_add_c_string(&names, i > 0 ? "," : "");
        text_builder_add(&names, call->label_names.items[i]);
    }
    add_number(query, "--over-time",
               step_ms >= 1 && step_ms < LONGEST_STEP_MS ? (uint64_t)step_ms : STEP_DEFAULT_MS);
    if (names.size > 0)
        query_argument(&query->arguments, "--split-by", text_builder_c_string(&names));
    text_builder_release(&names);
}

static void add_output(struct query *query, const struct querier_call *call, const struct profile_type *type)
{
    if (call->method == QUERIER_SELECT_SERIES)
        add_steps(query, call);
    else
        query_argument(&query->arguments, "--format",
                       call->method == QUERIER_MERGE_PROFILE ? "pprof" : "flamebearer");
    if (call->method == QUERIER_MERGE_STACKTRACES)
        add_number(query, "--max-nodes", call->max_nodes > 0 ? call->max_nodes : NODES_DEFAULT);
    query_argument(&query->arguments, "--weight", type->by_value ? "value" : "count");
    query_argument(&query->arguments, "--event", type->event);
}

/* False: it will be answered later. */
static bool run(struct admitted *admitted, struct http_request *request, struct querier_call *call,
                const struct label_matchers *matchers)
{
    static void (*const takers[])(struct query * query) = {[QUERIER_MERGE_STACKTRACES] = on_graph,
                                                           [QUERIER_MERGE_PROFILE] = on_profile,
                                                           [QUERIER_SELECT_SERIES] = on_points};
    struct recording_query selection = selection_of(admitted, call);
    struct profile_type type;
    struct error error = {0};
    bool found = false;
    if (!read_profile_type(call, matchers, &type, &error)) {
        http_request_fail(request, 400, "%s", error.message);
        return true;
    }
    if (call->format > QUERIER_FORMAT_FLAMEGRAPH ||
        (call->is_json && call->method == QUERIER_MERGE_PROFILE)) {
        http_request_fail(request, 501, "there is only the flame graph, and pprof as protobuf");
        return true;
    }
    route_add_selection(&admitted->query, admitted->collector, &selection);
    if (!add_arguments(admitted, call, matchers, &type, &found, &error)) {
        unsigned status = error.code == ERROR_BAD_INPUT ? 400 : error.code == ERROR_UNSUPPORTED ? 422 : 500;
        http_request_fail(request, status, "%s", error.message);
        return true;
    }
    if (!found) {
        answer_empty(request);
        return true;
    }
    add_output(&admitted->query, call, &type);
    return route_run_query(admitted, request, takers[call->method]);
}

static bool merge(struct admitted *admitted, struct http_request *request, enum querier_method method)
{
    struct querier_call call;
    struct label_matchers matchers;
    bool is_answered =
        !read_call(request, method, &call, &matchers) || run(admitted, request, &call, &matchers);
    querier_call_release(&call);
    return is_answered;
}

bool route_querier_merge_stacktraces(struct admitted *admitted, struct http_request *request)
{
    return merge(admitted, request, QUERIER_MERGE_STACKTRACES);
}

bool route_querier_merge_profile(struct admitted *admitted, struct http_request *request)
{
    return merge(admitted, request, QUERIER_MERGE_PROFILE);
}

bool route_querier_select_series(struct admitted *admitted, struct http_request *request)
{
    return merge(admitted, request, QUERIER_SELECT_SERIES);
}
