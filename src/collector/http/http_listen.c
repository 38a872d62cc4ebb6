#include "collector/http/http_listen.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { BACKLOG = 1024 };

bool http_is_loopback(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET) {
        struct sockaddr_in ipv4;
        memcpy(&ipv4, address, sizeof(ipv4));
        return (ntohl(ipv4.sin_addr.s_addr) >> 24) == 127;
    }
    struct sockaddr_in6 ipv6;
    memcpy(&ipv6, address, sizeof(ipv6));
    return address->sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&ipv6.sin6_addr);
}

static socklen_t size_of(const struct sockaddr *address)
{
    return address->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
}

void http_address_text(const struct sockaddr *address, char *to, size_t room)
{
    if (getnameinfo(address, size_of(address), to, (socklen_t)room, NULL, 0, NI_NUMERICHOST) != 0)
        snprintf(to, room, "-");
}

static bool describe(struct http_listener *listener, struct error *error)
{
    struct sockaddr_storage address;
    socklen_t size = sizeof(address);
    char host[64];
    char port[16];
    if (getsockname(listener->descriptor, (struct sockaddr *)&address, &size) != 0 ||
        getnameinfo((struct sockaddr *)&address, size, host, sizeof(host), port, sizeof(port),
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        return error_set_system(error, "cannot find the address");
    listener->is_loopback = http_is_loopback((struct sockaddr *)&address);
    listener->is_ipv6 = address.ss_family == AF_INET6;
    snprintf(listener->address, sizeof(listener->address), listener->is_ipv6 ? "[%s]:%s" : "%s:%s", host,
             port);
    return true;
}

static bool open_address(struct http_listener *listener, const struct addrinfo *address)
{
    int on = 1;
    listener->descriptor =
        socket(address->ai_family, address->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, address->ai_protocol);
    if (listener->descriptor < 0)
        return false;
    setsockopt(listener->descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (bind(listener->descriptor, address->ai_addr, address->ai_addrlen) == 0 &&
        listen(listener->descriptor, BACKLOG) == 0)
        return true;
    close(listener->descriptor);
    listener->descriptor = -1;
    return false;
}

bool http_listen(struct http_listener *listener, const char *host, const char *port, struct error *error)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *addresses;
    int code = getaddrinfo(host, port, &hints, &addresses);
    *listener = (struct http_listener){.descriptor = -1};
    if (code != 0)
        return error_set(error, ERROR_USAGE, "%s:%s: %s", host, port, gai_strerror(code));
    for (struct addrinfo *address = addresses; address != NULL && listener->descriptor < 0;
         address = address->ai_next)
        open_address(listener, address);
    freeaddrinfo(addresses);
    if (listener->descriptor < 0)
        return error_set_system(error, "cannot listen on %s:%s", host, port);
    if (describe(listener, error))
        return true;
    close(listener->descriptor);
    listener->descriptor = -1;
    return false;
}
