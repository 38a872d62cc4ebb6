/*
 * http_server.h - runs requests on libmicrohttpd: limits of connections, headers, bodies and time; TLS; graceful stop.
 * The only room that knows the library.
 *
 * libmicrohttpd's own timeout is one of inactivity, which a client that sends a byte now and then survives; so each
 * connection has a deadline here, and http_server_tick() closes those that miss theirs.
 *
 * Owns: its threads and connections, until http_server_stop(). Threads: the handler is called on several.
 */
#ifndef COLLECTOR_HTTP_SERVER_H
#define COLLECTOR_HTTP_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "collector/http/http_request.h"

struct http_limits {
    unsigned connections;
    unsigned connections_per_address;
    uint64_t body_bytes;       /* of one request */
    uint64_t all_bodies_bytes; /* of all requests at a time; beyond, 503 */
    unsigned header_seconds;
    unsigned request_seconds; /* from the request line to the end of the body, and again for the answer */
    unsigned idle_seconds;    /* between two requests of a connection */
};

struct http_options {
    struct http_limits limits;
    const char *host; /* an address or name */
    const char *port;
    char *certificate; /* PEM; NULL: plain HTTP */
    char *key;
    unsigned threads;
    bool logs_all; /* else only requests that fail */
    void (*log)(void *context, const char *text);
    void *log_context;
};

struct http_server;

struct http_counts {
    uint64_t requests;
    uint64_t connections; /* open now */
    uint64_t deadlines;   /* connections that missed theirs */
    uint64_t body_bytes;  /* in memory now */
    uint64_t statuses[6]; /* answers by the first digit of their status */
};

/* Listens, and answers only after http_server_start(). NULL with *error set. */
struct http_server *http_server_open(const struct http_options *options, struct error *error) MUST_CHECK;
bool http_server_start(struct http_server *server, const struct http_handler *handler,
                       struct error *error) MUST_CHECK;
/* "127.0.0.1:4041", "[::1]:4041" */
const char *http_server_address(const struct http_server *server);
bool http_server_is_loopback(const struct http_server *server);
/* Closes connections that are over their time; to be called once a second. */
void http_server_tick(struct http_server *server);
/* No new connections and requests from now on. */
void http_server_quiesce(struct http_server *server);
/* True when no request is being worked on. */
bool http_server_is_idle(struct http_server *server);
/* All requests that were handed over have to be finished before. NULL is allowed. */
void http_server_stop(struct http_server *server);
void http_server_count(struct http_server *server, struct http_counts *counts);

#endif
