/*
 * ingest_request.h - a request of another system's sender: its body, and the profiles in it on their way to the store.
 *
 * Each function that returns false has set the answer.
 */
#ifndef COLLECTOR_INGEST_REQUEST_H
#define COLLECTOR_INGEST_REQUEST_H

#include <stdbool.h>

#include "base/attributes.h"
#include "base/text_view.h"
#include "collector/route.h"

struct ingest {
    struct admitted *admitted;
    struct http_request *request;
};

/* Makes the batch. */
bool ingest_begin(struct ingest *ingest) MUST_CHECK;
/* The body, decompressed if the client compressed it on the way; it lives as long as the batch. */
bool ingest_open_body(struct ingest *ingest, struct text_view *body) MUST_CHECK;
/* Adds a recording of a known kind to the batch, for the group of the request. */
bool ingest_add(struct ingest *ingest, const struct stored_recording *described,
                struct text_view body) MUST_CHECK;
/* The same for a body of any format that there is a reader for; the context is the struct ingest. */
bool ingest_add_profile(void *context, const struct stored_recording *described, struct text_view body);

#endif
