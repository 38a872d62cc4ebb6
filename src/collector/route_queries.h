/*
 * route_queries.h - requests that `sparkflame query` answers, in a process of its own.
 */
#ifndef COLLECTOR_ROUTE_QUERIES_H
#define COLLECTOR_ROUTE_QUERIES_H

#include <stdbool.h>

#include "collector/route.h"
#include "collector/store/recording_index.h"

/* The command, its data directory, and which recordings are wanted, as arguments. */
void route_add_selection(struct query *query, const struct collector *collector,
                         const struct recording_query *selection);
/* `done` is called on another thread, and finishes the request. Returns what a route returns. */
bool route_run_query(struct admitted *admitted, struct http_request *request,
                     void (*done)(struct query *query));
/* Parameters that select samples, as arguments of the query: event, thread, label, include, … */
void route_pass_selection(struct http_request *request, struct query *query);
/* False: no recording of the index matches, or it failed; the answer is set. */
bool route_check_any(struct admitted *admitted, struct http_request *request,
                     struct recording_query selection) MUST_CHECK;
/* An option with a number. */
void route_add_number(struct query *query, const char *option, uint64_t number);
/* Of a query whose outcome is CHILD_GOOD: what it wrote. `extension` NULL: it is shown, not saved. */
void route_answer_good(struct http_request *request, struct query *query, const char *content_type,
                       const char *extension);
/* Of a query whose outcome is not CHILD_GOOD. */
void route_answer_failure(struct http_request *request, const struct query *query);

#endif
