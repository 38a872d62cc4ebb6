#include "collector/ingest_batch.h"

#include <stdlib.h>

#include "base/array.h"

/* Far more than any caller takes. */
#define RECORDING_LIMIT 4096

struct ingest_batch *ingest_batch_new(size_t made_limit_bytes)
{
    struct ingest_batch *batch = calloc(1, sizeof(*batch));
    if (batch == NULL)
        return NULL;
    batch->full_status = 507;
    text_builder_init(&batch->made, made_limit_bytes);
    return batch;
}

void ingest_batch_free(struct ingest_batch *batch)
{
    if (batch == NULL)
        return;
    byte_source_close(batch->source);
    text_builder_release(&batch->made);
    free(batch->commits);
    free(batch);
}

bool ingest_batch_add(struct ingest_batch *batch, const struct stored_recording *recording,
                      struct text_view body)
{
    if (!array_reserve(&batch->commits, &batch->capacity, batch->count + 1, RECORDING_LIMIT))
        return false;
    batch->commits[batch->count++] = (struct commit){.recording = *recording, .body = body};
    return true;
}

void ingest_batch_place(struct ingest_batch *batch)
{
    struct text_view rest = text_builder_view(&batch->made);
    for (size_t i = 0; i < batch->count; i++) {
        batch->commits[i].body.data = rest.data;
        rest = text_from(rest, batch->commits[i].body.size);
    }
}

/* The worst result of all: what was stored is known when the whole is sent again. */
static const struct commit *worst(const struct ingest_batch *batch)
{
    const struct commit *found = &batch->commits[0];
    for (size_t i = 1; i < batch->count; i++)
        if (batch->commits[i].result > found->result)
            found = &batch->commits[i];
    return found;
}

static void answer(const struct ingest_batch *batch)
{
    struct http_request *request = batch->request;
    const struct commit *commit = worst(batch);
    if (atomic_load(&batch->was_refused)) {
        http_request_fail_busy(request, "the collector is stopping");
    } else if (commit->result == STORE_FULL || commit->result == STORE_FAILED) {
        http_answer_header(&request->answer, "Retry-After", commit->result == STORE_FULL ? "60" : "30");
        http_request_fail(request, commit->result == STORE_FULL ? batch->full_status : 503, "%s",
                          commit->error.message);
    } else if (commit->result == STORE_CONFLICT) {
        http_request_fail(request, 409, "another recording has the same hash");
    }
}

static void settle(struct ingest_batch *batch)
{
    if (atomic_fetch_sub(&batch->pending, 1) == 1) {
        answer(batch);
        http_request_finish(batch->request);
    }
}

static void on_stored(struct commit *commit)
{
    struct ingest_batch *batch = commit->context;
    if (commit->result == STORE_NEW)
        regression_watch_note(batch->watch, &commit->recording);
    settle(batch);
}

bool ingest_batch_store(struct ingest_batch *batch, struct committer *committer,
                        struct regression_watch *watch, struct http_request *request,
                        const char *content_type)
{
    size_t count = batch->count;
    request->answer.status = 200;
    request->answer.content_type = content_type;
    if (count == 0)
        return true;
    batch->request = request;
    batch->watch = watch;
    atomic_store(&batch->pending, count);
    http_request_later(request);
    for (size_t i = 0; i < count; i++) {
        struct commit *commit = &batch->commits[i];
        commit->context = batch;
        commit->done = on_stored;
        if (!committer_add(committer, commit)) {
            atomic_store(&batch->was_refused, true);
            settle(batch);
        }
    }
    return false;
}
