/*
 * route_parameters.h - parameters of requests that read. Each of these functions that returns false has set the answer.
 */
#ifndef COLLECTOR_ROUTE_PARAMETERS_H
#define COLLECTOR_ROUTE_PARAMETERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attributes.h"
#include "collector/http/http_request.h"
#include "collector/store/recording_index.h"

/* A number, or `otherwise` if it is absent. */
bool route_read_number(struct http_request *request, const char *name, uint64_t limit, uint64_t otherwise,
                       uint64_t *number) MUST_CHECK;
/* An identifier, NULL if it is absent. */
bool route_read_id(struct http_request *request, const char *name, const char **id) MUST_CHECK;
/* NULL if it is absent. An empty one stands for an application that has no attempts. */
bool route_read_attempt(struct http_request *request, const char **attempt) MUST_CHECK;
/* Times in [from, to), in ms since 1970. */
bool route_read_times(struct http_request *request, const char *from, const char *to, int64_t *from_ms,
                      int64_t *to_ms) MUST_CHECK;
/* group, application, attempt, executor, from and to; the rest is 0. */
bool route_read_selection(struct http_request *request, struct recording_query *query) MUST_CHECK;

#endif
