/*
 * http_listen.h - a listening socket on a host and port.
 */
#ifndef COLLECTOR_HTTP_LISTEN_H
#define COLLECTOR_HTTP_LISTEN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#include "base/attributes.h"
#include "base/error.h"

struct http_listener {
    int descriptor;
    bool is_loopback;
    bool is_ipv6;
    char address[96]; /* "127.0.0.1:4041", "[::1]:4041" */
};

bool http_listen(struct http_listener *listener, const char *host, const char *port,
                 struct error *error) MUST_CHECK;
/* Only the machine itself can be a peer. */
bool http_is_loopback(const struct sockaddr *address);
/* "127.0.0.1", "::1"; "-" if it has none. */
void http_address_text(const struct sockaddr *address, char *to, size_t room);

#endif
