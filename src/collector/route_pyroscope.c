/*
 * route_pyroscope.c - POST /ingest and /push.v1.PusherService/Push, as Pyroscope's agents send profiles.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "collector/http/multipart.h"
#include "collector/ingest_request.h"
#include "collector/pyroscope.h"
#include "collector/sender_names.h"

/* ---- /ingest ---- */

/* The part that holds the profile: "jfr" or "profile". Others describe it and are not kept. */
static bool find_profile(struct ingest *ingest, const char *content_type, struct text_view *body)
{
    struct multipart multipart;
    struct multipart_part part;
    struct error error = {0};
    bool found = false;
    if (!multipart_init(&multipart, content_type, *body, &error))
        return http_request_fail(ingest->request, 400, "%s", error.message);
    while (multipart_next(&multipart, &part, &error)) {
        if (!found && (text_equal(part.name, TEXT("jfr")) || text_equal(part.name, TEXT("profile")))) {
            *body = part.content;
            found = true;
        }
    }
    if (error.message[0] != '\0')
        return http_request_fail(ingest->request, 400, "%s", error.message);
    return found || http_request_fail(ingest->request, 400, "the body has no part \"jfr\" or \"profile\"");
}

static bool read_ingest(struct ingest *ingest)
{
    struct http_request *request = ingest->request;
    const char *name = http_request_query(request, "name");
    const char *from = http_request_query(request, "from");
    const char *until = http_request_query(request, "until");
    const char *content_type = http_request_header(request, "Content-Type");
    struct stored_recording recording = {.number = 0};
    struct text_view body;
    struct error error = {0};
    char when[64];
    if (!pyroscope_read_name(&recording, text_of(name == NULL ? "" : name), &error))
        return http_request_fail(request, 400, "%s", error.message);
    if (!ingest_begin(ingest) || !ingest_open_body(ingest, &body) ||
        (multipart_is_type(content_type) && !find_profile(ingest, content_type, &body)))
        return false;
    snprintf(when, sizeof(when), "%.30s %.30s", from == NULL ? "" : from, until == NULL ? "" : until);
    sender_number(&recording, text_of(when), body);
    return ingest_add_profile(ingest, &recording, body);
}

bool route_ingest(struct admitted *admitted, struct http_request *request)
{
    struct ingest ingest = {admitted, request};
    return !read_ingest(&ingest) || ingest_batch_store(admitted->batch, admitted->collector->committer,
                                                       admitted->collector->regressions, request, NULL);
}

/* ---- push ---- */

static bool read_push(struct ingest *ingest)
{
    struct http_request *request = ingest->request;
    const char *type = http_request_header(request, "Content-Type");
    struct text_view body;
    struct error error = {0};
    if (type == NULL || (strncasecmp(type, "application/proto", 17) != 0 &&
                         strncasecmp(type, "application/x-protobuf", 22) != 0))
        return http_request_fail(request, 415, "the content type is not application/proto");
    if (!ingest_begin(ingest) || !ingest_open_body(ingest, &body))
        return false;
    if (pyroscope_each_profile(body, ingest_add_profile, ingest, &error))
        return true;
    return error.message[0] == '\0' ? false : http_request_fail(request, 400, "%s", error.message);
}

bool route_push(struct admitted *admitted, struct http_request *request)
{
    struct ingest ingest = {admitted, request};
    return !read_push(&ingest) ||
           ingest_batch_store(admitted->batch, admitted->collector->committer,
                              admitted->collector->regressions, request, "application/proto");
}
