/*
 * http_watch.h - the connections of a server, each with the time until which it has to get on.
 *
 * Owns: its entries, until http_watch_release(). Threads: any.
 */
#ifndef COLLECTOR_HTTP_WATCH_H
#define COLLECTOR_HTTP_WATCH_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

struct http_connection {
    int descriptor;
    atomic_int_least64_t deadline_ms; /* of http_watch_now_ms(); INT64_MAX: none */
    struct http_connection *previous, *next;
};

struct http_watch {
    pthread_mutex_t mutex;
    struct http_connection *first;
    uint64_t count;
    uint64_t closed;
};

void http_watch_init(struct http_watch *watch);
void http_watch_release(struct http_watch *watch);
/* NULL: out of memory. The descriptor has to stay open until http_watch_remove(). */
struct http_connection *http_watch_add(struct http_watch *watch, int descriptor, int64_t deadline_ms);
void http_watch_remove(struct http_watch *watch, struct http_connection *connection);
/* Shuts down the sockets of those that missed their deadline; their owner then notices and removes them. */
void http_watch_close_late(struct http_watch *watch, int64_t now_ms);
int64_t http_watch_now_ms(void);

#endif
