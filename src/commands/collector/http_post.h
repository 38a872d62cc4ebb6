/*
 * http_post.h - sends bodies to one server through libcurl, over one connection.
 *
 * Owns: the connection, until http_post_close(). Threads: one at a time.
 * Limit: 30 s to connect, 300 s for a request; what is more of an answer than its text builder takes is dropped.
 */
#ifndef COMMANDS_HTTP_POST_H
#define COMMANDS_HTTP_POST_H

#include <stdint.h>

#include "base/error.h"
#include "base/text_builder.h"
#include "base/text_view.h"

struct http_post;

struct http_post_options {
    const char *token;        /* NULL: none */
    const char *certificates; /* a PEM file with those to trust; NULL: the system's */
    const char *content_type; /* NULL: bytes of any kind */
    const char *header;       /* one more, "Name: value"; NULL: none */
    unsigned seconds;         /* for a request; 0: as above */
};

/* NULL with *error set. */
struct http_post *http_post_open(const struct http_post_options *options, struct error *error) MUST_CHECK;
/* NULL is allowed. */
void http_post_close(struct http_post *post);
/* Redirects are not followed, since they would get the token. True: there is an answer, whatever its status.
 * *retry_after_s is 0 if it has none. With ERROR_UNSUPPORTED another attempt would fail as well. */
bool http_post_send(struct http_post *post, const char *address, struct text_view body, long *status,
                    uint64_t *retry_after_s, struct text_builder *answer, struct error *error) MUST_CHECK;
/* Whether the last http_post_send() got as far as sending the request. */
bool http_post_was_sent(const struct http_post *post);

#endif
