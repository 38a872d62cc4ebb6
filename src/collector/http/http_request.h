/*
 * http_request.h - one request as its handler sees it, and the answer to it.
 *
 * Nothing here knows what the collector does. http_server.h runs the requests.
 */
#ifndef COLLECTOR_HTTP_REQUEST_H
#define COLLECTOR_HTTP_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/text_builder.h"
#include "base/text_view.h"

enum { HTTP_ANSWER_HEADERS = 6 };

struct http_answer {
    unsigned status;
    const char *content_type;
    struct text_builder body;
    struct {
        const char *name;
        char value[192];
    } headers[HTTP_ANSWER_HEADERS];
    size_t header_count;
};

struct http_request {
    const char *method;
    const char *path; /* decoded, without the query */
    uint64_t number;  /* counted from the start of the server */
    struct text_builder body;
    struct http_answer answer;
    char who[16];     /* for the log: the id of a token */
    void *attachment; /* of the handler, which frees it in `forget` */
    /* Sets content type and body of an answer that is an error; NULL: as {"error": …}. */
    void (*write_error)(struct http_answer *answer, struct text_view text);
    struct MHD_Connection *connection;
};

/* What the server calls; the context is the handler's. */
struct http_handler {
    void *context;
    /* The headers are here. False: the answer is set, and the body is not read. */
    bool (*admit)(void *context, struct http_request *request);
    /* The body is complete. False: the answer comes later, through http_request_finish(). */
    bool (*handle)(void *context, struct http_request *request);
    /* The request has ended, answered or not. */
    void (*forget)(void *context, struct http_request *request);
};

/* The decoded value; NULL: absent, or it contains a zero byte. */
const char *http_request_query(const struct http_request *request, const char *name);
/* Calls `take` for each parameter of that name; false from it ends this, and is returned. */
bool http_request_each_query(const struct http_request *request, const char *name,
                             bool (*take)(void *context, struct text_view value), void *context);
/* True if the value of a parameter has a zero byte, behind which nobody would see the rest. */
bool http_request_query_is_cut(const struct http_request *request);
const char *http_request_header(const struct http_request *request, const char *name);
/* For a handler that will return false, before it hands the request to another thread; then that thread, or any
 * other, sets the answer and finishes. The request may be gone when http_request_finish() returns. */
void http_request_later(struct http_request *request);
void http_request_finish(struct http_request *request);

void http_answer_header(struct http_answer *answer, const char *name, const char *format, ...)
    PRINTF_LIKE(3, 4);
/* {"error": …} as JSON, or as `write_error` has it; returns false, for use in `admit`. */
bool http_request_fail(struct http_request *request, unsigned status, const char *format, ...)
    PRINTF_LIKE(3, 4);
/* The same with status 503, after which the client may send again. */
bool http_request_fail_busy(struct http_request *request, const char *why);
/* Counts bytes of the answer with the bodies in memory, until the request ends. False: they are too many. */
bool http_request_reserve(struct http_request *request, uint64_t bytes) MUST_CHECK;

#endif
