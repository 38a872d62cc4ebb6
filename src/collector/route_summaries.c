/*
 * route_summaries.c - GET /v1/methods, /v1/method, /v1/heap and /v1/regression: what `sparkflame query` says of
 * recordings in JSON; and /v1/regressions, what it said of applications when they had ended.
 */
#include <string.h>

#include "collector/route.h"
#include "collector/route_parameters.h"
#include "collector/route_queries.h"

enum { ROWS_DEFAULT = 50, ROW_LIMIT = 1000, DAYS_DEFAULT = 7, DAY_LIMIT = 366, LISTED_DEFAULT = 100 };

static void on_summary(struct query *query)
{
    struct http_request *request = query->context;
    if (query->outcome == CHILD_GOOD)
        route_answer_good(request, query, "application/json", NULL);
    else
        route_answer_failure(request, query);
    http_request_finish(request);
}

/* False: the answer is set. */
static bool begin(struct admitted *admitted, struct http_request *request, struct recording_query *selection,
                  uint64_t *rows)
{
    if (!route_read_selection(request, selection) ||
        !route_read_number(request, "limit", ROW_LIMIT, ROWS_DEFAULT, rows) ||
        !route_check_any(admitted, request, *selection))
        return false;
    *rows = *rows == 0 ? ROWS_DEFAULT : *rows;
    route_add_selection(&admitted->query, admitted->collector, selection);
    return true;
}

bool route_list_methods(struct admitted *admitted, struct http_request *request)
{
    struct recording_query selection;
    const char *order = http_request_query(request, "order"), *search = http_request_query(request, "search");
    uint64_t rows;
    if (order != NULL && strcmp(order, "self") != 0 && strcmp(order, "total") != 0) {
        http_request_fail(request, 400, "order must be self or total");
        return true;
    }
    if (!begin(admitted, request, &selection, &rows))
        return true;
    route_pass_selection(request, &admitted->query);
    route_add_number(&admitted->query, "--methods", rows);
    if (search != NULL)
        query_argument(&admitted->query.arguments, "--search", search);
    if (order != NULL && strcmp(order, "total") == 0)
        query_argument(&admitted->query.arguments, "--by-total", NULL);
    return route_run_query(admitted, request, on_summary);
}

bool route_get_method(struct admitted *admitted, struct http_request *request)
{
    struct recording_query selection;
    const char *method = http_request_query(request, "method");
    uint64_t rows;
    if (method == NULL || method[0] == '\0') {
        http_request_fail(request, 400, "method is missing");
        return true;
    }
    if (!begin(admitted, request, &selection, &rows))
        return true;
    route_pass_selection(request, &admitted->query);
    route_add_number(&admitted->query, "--methods", rows);
    query_argument(&admitted->query.arguments, "--method", method);
    return route_run_query(admitted, request, on_summary);
}

static bool pass_label(void *context, struct text_view value)
{
    struct query *query = context;
    query_argument(&query->arguments, "--label", value.data);
    return true;
}

bool route_get_heap(struct admitted *admitted, struct http_request *request)
{
    struct recording_query selection;
    uint64_t rows;
    if (!begin(admitted, request, &selection, &rows))
        return true;
    http_request_each_query(request, "label", pass_label, &admitted->query);
    route_add_number(&admitted->query, "--heap", rows);
    return route_run_query(admitted, request, on_summary);
}

bool route_get_regression(struct admitted *admitted, struct http_request *request)
{
    struct recording_query selection = {.to_ms = INT64_MAX};
    uint64_t days;
    selection.group = admitted->group;
    if (!route_read_id(request, "application", &selection.application) ||
        !route_read_attempt(request, &selection.attempt) ||
        !route_read_number(request, "days", DAY_LIMIT, DAYS_DEFAULT, &days))
        return true;
    if (selection.application == NULL) {
        http_request_fail(request, 400, "application is missing");
        return true;
    }
    if (selection.attempt == NULL)
        selection.attempt = "";
    if (!route_check_any(admitted, request, selection))
        return true;
    route_add_selection(&admitted->query, admitted->collector, &selection);
    route_add_number(&admitted->query, "--regression-days", days == 0 ? DAYS_DEFAULT : days);
    return route_run_query(admitted, request, on_summary);
}

bool route_list_regressions(struct admitted *admitted, struct http_request *request)
{
    struct output output;
    struct error error = {0};
    uint64_t limit;
    if (!route_read_number(request, "limit", ROW_LIMIT, LISTED_DEFAULT, &limit) ||
        !answer_begin(request, &output))
        return true;
    regression_watch_write(admitted->collector->regressions, admitted->group, limit, &output);
    return answer_end(request, &output, true, &error);
}
