/*
 * route_profile.c - GET /v1/profile, /v1/difference and /v1/report: what `sparkflame query` and `report` make of the
 * recordings, in processes of their own.
 */
#include <stdio.h>
#include <string.h>

#include "collector/route.h"
#include "collector/route_parameters.h"
#include "collector/route_queries.h"

/* Up to the year 2255. */
#define LATEST_MS INT64_C(9000000000000)
#define MIB ((uint64_t)1 << 20)

struct answer_format {
    const char *name;    /* of the parameter */
    const char *written; /* by `query --format` */
    const char *content_type;
    const char *extension; /* of a file to save; NULL: it is shown */
};

static const struct answer_format formats[] = {
    {"html", "html", "text/html; charset=utf-8", NULL},
    {"svg", "svg", "image/svg+xml", NULL},
    {"folded", "folded", "text/plain; charset=utf-8", NULL},
    {"json", "speedscope", "application/json", NULL},
    {"speedscope", "speedscope", "application/json", "speedscope.json"},
    {"pprof", "pprof", "application/octet-stream", "pb.gz"},
    {"csv", "csv", "text/csv; charset=utf-8", "csv"},
};

/* Parameters that are options of `query` with the same meaning; they read no files. */
struct passed_parameter {
    const char *parameter, *option;
};

static const struct passed_parameter selecting[] = {
    {"event", "--event"}, {"thread", "--thread"},   {"state", "--state"},
    {"job", "--job"},     {"stage", "--stage"},     {"task", "--task"},
    {"label", "--label"}, {"include", "--include"}, {"exclude", "--exclude"},
};
static const struct passed_parameter drawing[] = {
    {"by", "--by"},
    {"min_share", "--min-share"},
    {"title", "--title"},
};

static const struct answer_format *find_format(struct http_request *request)
{
    const char *name = http_request_query(request, "format");
    for (size_t i = 0; i < COUNT_OF(formats); i++)
        if (strcmp(name == NULL ? "html" : name, formats[i].name) == 0)
            return &formats[i];
    http_request_fail(request, 400, "format must be html, svg, folded, json, speedscope, pprof or csv");
    return NULL;
}

/* ---- arguments ---- */

void route_add_number(struct query *query, const char *option, uint64_t number)
{
    char text[24];
    snprintf(text, sizeof(text), "%llu", (unsigned long long)number);
    query_argument(&query->arguments, option, text);
}

static void add_time(struct query *query, const char *option, int64_t time_ms)
{
    char text[32];
    snprintf(text, sizeof(text), "%lldms", (long long)(time_ms < LATEST_MS ? time_ms : LATEST_MS));
    query_argument(&query->arguments, option, text);
}

static void add_optional(struct query *query, const char *option, const char *value)
{
    if (value != NULL)
        query_argument(&query->arguments, option, value);
}

struct passing {
    struct query *query;
    const char *option;
};

static bool pass_value(void *context, struct text_view value)
{
    struct passing *passing = context;
    query_argument(&passing->query->arguments, passing->option, value.data);
    return true;
}

/* An option without a value, of a parameter that is 0 or 1. */
static bool pass_flag(struct http_request *request, const char *parameter, const char *option,
                      struct query *query)
{
    const char *value = http_request_query(request, parameter);
    if (value != NULL && strcmp(value, "1") == 0)
        query_argument(&query->arguments, option, NULL);
    return value == NULL || strcmp(value, "0") == 0 || strcmp(value, "1") == 0 ||
           http_request_fail(request, 400, "%s must be 0 or 1", parameter);
}

static bool pass_detail(struct http_request *request, struct query *query)
{
    const char *value = http_request_query(request, "detail");
    if (value == NULL || strcmp(value, "auto") == 0)
        return true;
    if (strcmp(value, "full") != 0 && strcmp(value, "summary") != 0)
        return http_request_fail(request, 400, "detail must be auto, full or summary");
    query_argument(&query->arguments, strcmp(value, "full") == 0 ? "--full" : "--summary", NULL);
    return true;
}

static void pass_all(struct http_request *request, struct query *query, const struct passed_parameter *passed,
                     size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct passing passing = {query, passed[i].option};
        http_request_each_query(request, passed[i].parameter, pass_value, &passing);
    }
}

void route_pass_selection(struct http_request *request, struct query *query)
{
    pass_all(request, query, selecting, COUNT_OF(selecting));
}

static bool pass_parameters(struct http_request *request, struct query *query)
{
    route_pass_selection(request, query);
    pass_all(request, query, drawing, COUNT_OF(drawing));
    return pass_detail(request, query) && pass_flag(request, "reverse", "--reverse", query);
}

void route_add_selection(struct query *query, const struct collector *collector,
                         const struct recording_query *selection)
{
    query_argument(&query->arguments, "query", NULL);
    query_argument(&query->arguments, "--quiet", NULL);
    query_argument(&query->arguments, "--data", collector->options.store.folder);
    route_add_number(query, "--threads", 1);
    query_argument(&query->arguments, "--group", selection->group);
    add_optional(query, "--application", selection->application);
    add_optional(query, "--attempt", selection->attempt);
    add_optional(query, "--executor", selection->executor);
    add_time(query, "--received-from", selection->from_ms);
    add_time(query, "--received-to", selection->to_ms);
}

/* ---- the answer ---- */

void route_answer_failure(struct http_request *request, const struct query *query)
{
    switch (query->outcome) {
    case CHILD_MISUSED:
        http_request_fail(request, 400, "%s", query->error.message);
        return;
    case CHILD_LATE:
    case CHILD_STOPPED:
    case CHILD_NO_START:
        http_request_fail_busy(request, query->error.message);
        return;
    default:
        http_request_fail(request, 422, "%s", query->error.message);
        return;
    }
}

void route_answer_good(struct http_request *request, struct query *query, const char *content_type,
                       const char *extension)
{
    const char *application = http_request_query(request, "application");
    struct http_answer *answer = &request->answer;
    if (!http_request_reserve(request, query->answer.size)) {
        http_request_fail_busy(request, "too many bodies at a time");
        return;
    }
    text_builder_release(&answer->body);
    answer->body = query->answer;
    text_builder_init(&query->answer, 0);
    answer->status = 200;
    answer->content_type = content_type;
    /* Names in it come from outside: should one of them ever act as script, that runs without this site's rights. */
    http_answer_header(answer, "Content-Security-Policy",
                       "sandbox allow-scripts allow-downloads; frame-ancestors 'self'");
    if (extension != NULL)
        http_answer_header(answer, "Content-Disposition", "attachment; filename=\"%s.%s\"",
                           application == NULL ? http_request_query(request, "group") : application,
                           extension);
}

static void answer_good(struct http_request *request, struct query *query, const struct answer_format *format)
{
    route_answer_good(request, query, format->content_type, format->extension);
}

static void on_profile(struct query *query)
{
    struct http_request *request = query->context;
    if (query->outcome == CHILD_GOOD)
        answer_good(request, query, find_format(request));
    else
        route_answer_failure(request, query);
    http_request_finish(request);
}

bool route_run_query(struct admitted *admitted, struct http_request *request,
                     void (*done)(struct query *query))
{
    struct query *query = &admitted->query;
    query->done = done;
    query->context = request;
    snprintf(query->who, sizeof(query->who), "%s", request->who);
    http_request_later(request);
    if (query_runner_add(admitted->collector->queries, query))
        return false;
    http_request_fail_busy(request, "too many queries at a time");
    http_request_finish(request);
    return false;
}

static bool take_one(void *context, const struct stored_recording *recording)
{
    *(bool *)context = true;
    return false;
}

bool route_check_any(struct admitted *admitted, struct http_request *request,
                     struct recording_query selection)
{
    struct error error = {0};
    bool found = false;
    selection.limit = 1;
    struct recording_index *index = store_reader_lock(admitted->collector->reader);
    bool good = recording_index_each(index, &selection, take_one, &found, &error);
    store_reader_unlock(admitted->collector->reader);
    if (!good)
        return http_request_fail(request, 500, "%s", error.message);
    return found || http_request_fail(request, 404, "no recordings match");
}

bool route_get_profile(struct admitted *admitted, struct http_request *request)
{
    struct recording_query selection;
    const struct answer_format *format = find_format(request);
    if (format == NULL || !route_read_selection(request, &selection) ||
        !route_check_any(admitted, request, selection))
        return true;
    route_add_selection(&admitted->query, admitted->collector, &selection);
    query_argument(&admitted->query.arguments, "--format", format->written);
    return !pass_parameters(request, &admitted->query) || route_run_query(admitted, request, on_profile);
}

/* The other side of a difference: of the same group, so that one token allows both. */
static bool read_against(struct http_request *request, struct recording_query *against)
{
    return route_read_id(request, "against_application", &against->application) &&
           route_read_id(request, "against_attempt", &against->attempt) &&
           route_read_times(request, "against_from", "against_to", &against->from_ms, &against->to_ms);
}

bool route_get_difference(struct admitted *admitted, struct http_request *request)
{
    struct recording_query selection, against = {.group = NULL};
    struct query *query = &admitted->query;
    const struct answer_format *format = find_format(request);
    if (format == NULL || !route_read_selection(request, &selection) || !read_against(request, &against) ||
        !route_check_any(admitted, request, selection))
        return true;
    route_add_selection(query, admitted->collector, &selection);
    query_argument(&query->arguments, "--format", format->written);
    add_optional(query, "--against-application", against.application);
    add_optional(query, "--against-attempt", against.attempt);
    add_time(query, "--against-from", against.from_ms);
    add_time(query, "--against-to", against.to_ms);
    return !pass_flag(request, "normalize", "--normalize", query) || !pass_parameters(request, query) ||
           route_run_query(admitted, request, on_profile);
}

/* ---- the report of an application ---- */

static const struct answer_format report_formats[] = {
    {"html", "html", "text/html; charset=utf-8", NULL},
    {"json", "json", "application/json", NULL},
    {"text", "text", "text/plain; charset=utf-8", NULL},
};

static const struct answer_format *find_report_format(struct http_request *request)
{
    const char *name = http_request_query(request, "format");
    for (size_t i = 0; i < COUNT_OF(report_formats); i++)
        if (strcmp(name == NULL ? "html" : name, report_formats[i].name) == 0)
            return &report_formats[i];
    http_request_fail(request, 400, "format must be html, json or text");
    return NULL;
}

static void on_report(struct query *query)
{
    struct http_request *request = query->context;
    if (query->outcome == CHILD_GOOD)
        answer_good(request, query, find_report_format(request));
    else
        route_answer_failure(request, query);
    http_request_finish(request);
}

bool route_get_report(struct admitted *admitted, struct http_request *request)
{
    struct recording_query selection;
    struct query *query = &admitted->query;
    const struct answer_format *format = find_report_format(request);
    if (format == NULL || !route_read_selection(request, &selection))
        return true;
    if (selection.application == NULL) {
        http_request_fail(request, 400, "application is missing");
        return true;
    }
    if (!route_check_any(admitted, request, selection))
        return true;
    if (!query_folder_name(query->folder, admitted->collector->options.store.folder, request->number)) {
        http_request_fail(request, 500, "the path is too long");
        return true;
    }
    route_add_selection(query, admitted->collector, &selection);
    route_add_number(query, "--max-export-mib", admitted->collector->options.query.child.memory_bytes / MIB);
    query_argument(&query->arguments, "--export", query->folder);
    query_argument(&query->then, "report", NULL);
    query_argument(&query->then, "--quiet", NULL);
    query_argument(&query->then, "--threads", "1");
    query_argument(&query->then, "--format", format->written);
    query_argument(&query->then, "--", NULL);
    query_argument(&query->then, query->folder, NULL);
    return route_run_query(admitted, request, on_report);
}
