/*
 * otlp_request.h - what a request of OTLP has of each resource: the description of a recording, and a request of its
 * own, since a host's profiler sends the profiles of all processes at once, with tables that they share.
 *
 * Owns: its lists, until otlp_request_release(). Texts point into the message.
 */
#ifndef COLLECTOR_OTLP_REQUEST_H
#define COLLECTOR_OTLP_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/text_builder.h"
#include "base/text_view.h"
#include "collector/store/stored_recording.h"
#include "formats/otlp/otlp_message.h"

/* Of one request. */
#define OTLP_RESOURCES 1024
/* Of all tables of one request. */
#define OTLP_ENTRIES ((size_t)1 << 20)
/* Of one resource. */
#define OTLP_ATTRIBUTES_OF_RESOURCE 256
/* Fields and references that are followed in one request, of what several resources share each time: so many, and so
 * many for each byte, but at most OTLP_WORK_MOST. */
#define OTLP_WORK ((uint64_t)1 << 18)
#define OTLP_WORK_OF_BYTE 4
#define OTLP_WORK_MOST ((uint64_t)1 << 26)

struct otlp_request {
    struct text_view message;
    struct otlp_tables tables;
    struct text_view *resources; /* each a message ResourceProfiles */
    size_t count, capacity;
    uint32_t *marks[OTLP_TABLES]; /* the last resource that refers to an entry, counted from 1 */
    size_t ends[OTLP_TABLES];     /* behind the last entry that the present one refers to */
    uint64_t work, work_limit;
};

/* Release it also after a failure. */
bool otlp_request_read(struct otlp_request *request, struct text_view message,
                       struct error *error) MUST_CHECK;
void otlp_request_release(struct otlp_request *request);
/* Follows all references of a resource's profiles, each of which has to lead to something. */
bool otlp_request_check(struct otlp_request *request, size_t resource, struct error *error) MUST_CHECK;
/* Sets application, executor and labels from the attributes of the resource. */
bool otlp_request_describe(const struct otlp_request *request, size_t resource,
                           struct stored_recording *recording, struct error *error) MUST_CHECK;
/* After otlp_request_check() of this resource: appends a request with it alone. Entries of tables that it does not use
 * are empty, so that the numbers stay. False: no memory, or the limit of the builder. */
bool otlp_request_extract(const struct otlp_request *request, size_t resource, struct text_builder *to,
                          struct error *error) MUST_CHECK;

#endif
