/*
 * ingest_batch.h - the recordings of one request that holds several, on their way to the store. It is answered when
 * all of them are stored.
 *
 * Owns: the commits, the source of the bytes if the body came compressed, and bodies that were made, until
 * ingest_batch_free().
 */
#ifndef COLLECTOR_INGEST_BATCH_H
#define COLLECTOR_INGEST_BATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/attributes.h"
#include "base/text_builder.h"
#include "base/text_view.h"
#include "collector/store/committer.h"
#include "collector/http/http_request.h"
#include "collector/regression_watch.h"
#include "input/byte_source.h"

struct ingest_batch {
    struct byte_source *source; /* that the bodies point into; NULL: into the request's */
    struct text_builder made;   /* bodies that were made of the request; see ingest_batch_place() */
    unsigned full_status;       /* of the answer when the disk is full */
    struct http_request *request;
    struct regression_watch *watch; /* notes what was stored */
    atomic_size_t pending;
    atomic_bool was_refused; /* the committer stops */
    size_t count;
    size_t capacity;
    struct commit *commits;
};

/* NULL: no memory. `made_limit_bytes` is for bodies that are made. */
struct ingest_batch *ingest_batch_new(size_t made_limit_bytes) MUST_CHECK;
/* NULL is allowed. */
void ingest_batch_free(struct ingest_batch *batch);
/* A copy of the recording; the body has to stay where it is. False: no memory. */
bool ingest_batch_add(struct ingest_batch *batch, const struct stored_recording *recording,
                      struct text_view body) MUST_CHECK;
/* Of a batch all of whose bodies are made: lets them point there, one after the other as they were added. */
void ingest_batch_place(struct ingest_batch *batch);
/* Answers the request later, unless the batch is empty. Returns what a route returns. */
bool ingest_batch_store(struct ingest_batch *batch, struct committer *committer,
                        struct regression_watch *watch, struct http_request *request,
                        const char *content_type);

#endif
