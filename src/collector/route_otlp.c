/*
 * route_otlp.c - POST /v1development/profiles, as OpenTelemetry's agents and collectors send profiles over HTTP.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/output.h"
#include "collector/content.h"
#include "collector/ingest_request.h"
#include "collector/otlp_request.h"
#include "collector/sender_names.h"
#include "formats/gzip_writer.h"

static const char content_type[] = "application/x-protobuf";

/* Senders send again only after 503 and a few others. */
enum { FULL_STATUS = 503 };

/* Sets the answer and returns false. */
static bool fail(struct ingest *ingest, const struct error *error)
{
    if (content_lacks_memory(error))
        return http_request_fail_busy(ingest->request, error->message);
    return http_request_fail(ingest->request, error->code == ERROR_MEMORY ? 413 : 400, "%s", error->message);
}

static bool describe(struct ingest *ingest, const struct otlp_request *otlp, size_t resource,
                     struct stored_recording *recording)
{
    struct error error = {0};
    *recording = (struct stored_recording){.number = 0};
    if (!otlp_request_describe(otlp, resource, recording, &error))
        return fail(ingest, &error);
    snprintf(recording->kind, sizeof(recording->kind), "otlp");
    return true;
}

/* ---- one resource: stored as it came ---- */

static bool add_whole(struct ingest *ingest, struct otlp_request *otlp)
{
    struct text_view received = text_builder_view(&ingest->request->body);
    struct stored_recording recording;
    struct error error = {0};
    if (!otlp_request_check(otlp, 0, &error))
        return fail(ingest, &error);
    if (!describe(ingest, otlp, 0, &recording))
        return false;
    content_add_events(&recording, otlp->message);
    sender_number(&recording, TEXT(""), received);
    return ingest_add(ingest, &recording, received);
}

/* ---- several: each as a request of its own ---- */

static bool pack(struct text_view bytes, struct text_builder *to, struct error *error)
{
    struct output output;
    struct gzip_writer writer;
    if (!output_open_memory(&output, to, error))
        return false;
    bool good = gzip_writer_init(&writer, &output, error);
    if (good) {
        gzip_writer_write(&writer, bytes.data, bytes.size);
        good = gzip_writer_finish(&writer, error);
        gzip_writer_release(&writer);
    }
    good = good && output_finish(&output, error);
    output_release(&output);
    return good;
}

/* `rest_bytes` is what the resources may still have in sum, before they are compressed. */
static bool add_part(struct ingest *ingest, struct otlp_request *otlp, size_t resource, size_t *rest_bytes)
{
    struct text_builder *made = &ingest->admitted->batch->made, part;
    struct stored_recording recording;
    struct error error = {0};
    size_t before = made->size;
    if (!describe(ingest, otlp, resource, &recording))
        return false;
    text_builder_init(&part, *rest_bytes);
    bool good = otlp_request_check(otlp, resource, &error) &&
                otlp_request_extract(otlp, resource, &part, &error) &&
                pack(text_builder_view(&part), made, &error);
    if (good) {
        *rest_bytes -= part.size;
        content_add_events(&recording, text_builder_view(&part));
        /* Not of how it is compressed, which another release may do in another way. */
        sender_number(&recording, TEXT(""), text_builder_view(&part));
        recording.is_numbered_by_content = true;
    }
    text_builder_release(&part);
    if (!good)
        return fail(ingest, &error);
    if (!http_request_reserve(ingest->request, made->size - before))
        return http_request_fail_busy(ingest->request, "too many bodies at a time");
    struct text_view body = text_from(text_builder_view(made), before);
    return ingest_add(ingest, &recording, body);
}

static bool add_parts(struct ingest *ingest, struct otlp_request *otlp)
{
    size_t rest_bytes = ingest->admitted->collector->options.unpacked_bytes;
    for (size_t i = 0; i < otlp->count; i++)
        if (!add_part(ingest, otlp, i, &rest_bytes))
            return false;
    ingest_batch_place(ingest->admitted->batch);
    return true;
}

/* ---- the request ---- */

static bool read_body(struct ingest *ingest, struct text_view body)
{
    struct otlp_request otlp;
    struct error error = {0};
    bool good = otlp_request_read(&otlp, body, &error) || fail(ingest, &error);
    if (good && otlp.count == 1)
        good = add_whole(ingest, &otlp);
    else if (good)
        good = add_parts(ingest, &otlp);
    otlp_request_release(&otlp);
    return good;
}

static bool is_protobuf(const char *type)
{
    size_t size = type == NULL ? 0 : strcspn(type, "; ");
    return size == strlen(content_type) && strncasecmp(type, content_type, size) == 0;
}

static bool read_request(struct ingest *ingest)
{
    struct text_view body;
    if (!is_protobuf(http_request_header(ingest->request, "Content-Type")))
        return http_request_fail(ingest->request, 415, "the content type is not %s", content_type);
    if (!ingest_begin(ingest))
        return false;
    ingest->admitted->batch->full_status = FULL_STATUS;
    return ingest_open_body(ingest, &body) && read_body(ingest, body);
}

/* An empty answer is a message ExportProfilesServiceResponse: all of it was taken. */
bool route_post_otlp_profiles(struct admitted *admitted, struct http_request *request)
{
    struct ingest ingest = {admitted, request};
    return !read_request(&ingest) ||
           ingest_batch_store(admitted->batch, admitted->collector->committer,
                              admitted->collector->regressions, request, content_type);
}
