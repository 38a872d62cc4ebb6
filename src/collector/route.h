/*
 * route.h - a request that was admitted, for the functions that handle it; see routes.h.
 */
#ifndef COLLECTOR_ROUTE_H
#define COLLECTOR_ROUTE_H

#include "base/output.h"
#include "collector/collector_state.h"
#include "collector/ingest_batch.h"

struct route;

/* What http_request.attachment is. */
struct admitted {
    struct collector *collector;
    const struct route *route;
    struct token_grant grant;
    char group[RECORDING_ID_BYTES + 1]; /* "" if the route needs none */
    struct commit commit;               /* of a recording that is stored */
    struct ingest_batch *batch;         /* of several; may be NULL */
    struct query query;                 /* of recordings that are read */
};

/* Begins and ends an answer of JSON. */
bool answer_begin(struct http_request *request, struct output *output) MUST_CHECK;
bool answer_end(struct http_request *request, struct output *output, bool good, const struct error *error);

/* route_NAME: true when the request was answered, false when that comes later. */
#define ROUTE(method, path, scope, needs_group, name) \
    bool route_##name(struct admitted *admitted, struct http_request *request);
#include "collector/route_table.def"
#undef ROUTE

#endif
