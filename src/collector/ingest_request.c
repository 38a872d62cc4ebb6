#include "collector/ingest_request.h"

#include <string.h>
#include <strings.h>

#include "collector/content.h"

/* Sets the answer and returns false. */
static bool fail_content(struct http_request *request, enum content_finding finding,
                         const struct error *error)
{
    static const unsigned statuses[] = {
        [CONTENT_DAMAGED] = 422, [CONTENT_TOO_LARGE] = 413, [CONTENT_UNKNOWN] = 415};
    if (finding == CONTENT_NO_MEMORY)
        return http_request_fail_busy(request, error->message);
    return http_request_fail(request, statuses[finding], "%s", error->message);
}

bool ingest_add(struct ingest *ingest, const struct stored_recording *described, struct text_view body)
{
    struct admitted *admitted = ingest->admitted;
    struct stored_recording recording = *described;
    memcpy(recording.group, admitted->group, sizeof(recording.group));
    return (http_request_reserve(ingest->request, sizeof(struct commit)) &&
            ingest_batch_add(admitted->batch, &recording, body)) ||
           http_request_fail_busy(ingest->request, "out of memory");
}

bool ingest_add_profile(void *context, const struct stored_recording *described, struct text_view body)
{
    struct ingest *ingest = context;
    struct stored_recording recording = *described;
    struct error error = {0};
    enum content_finding finding =
        content_recognize(body, ingest->admitted->collector->options.unpacked_bytes, &recording, &error);
    return finding == CONTENT_GOOD ? ingest_add(ingest, &recording, body)
                                   : fail_content(ingest->request, finding, &error);
}

bool ingest_open_body(struct ingest *ingest, struct text_view *body)
{
    struct http_request *request = ingest->request;
    struct ingest_batch *batch = ingest->admitted->batch;
    uint64_t limit = ingest->admitted->collector->options.http.limits.body_bytes;
    const char *encoding = http_request_header(request, "Content-Encoding");
    struct error error = {0};
    *body = text_builder_view(&request->body);
    if (encoding == NULL || strcasecmp(encoding, "identity") == 0)
        return true;
    if (strcasecmp(encoding, "gzip") != 0)
        return http_request_fail(request, 415, "the content encoding is neither gzip nor identity");
    if (!http_request_reserve(request, limit))
        return http_request_fail_busy(request, "too many bodies at a time");
    batch->source = byte_source_open_memory(*body, "the body", &error);
    if (batch->source != NULL && byte_source_all(batch->source, limit, body, &error))
        return true;
    if (content_lacks_memory(&error))
        return http_request_fail_busy(request, error.message);
    return http_request_fail(request, error.code == ERROR_MEMORY ? 413 : 422, "the body: %s", error.message);
}

bool ingest_begin(struct ingest *ingest)
{
    ingest->admitted->batch = ingest_batch_new(ingest->admitted->collector->options.unpacked_bytes);
    return ingest->admitted->batch != NULL || http_request_fail_busy(ingest->request, "out of memory");
}
