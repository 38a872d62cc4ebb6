#include "processes/process_ports.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "unit_test.h"

static uint16_t listen_somewhere(int family, int *descriptor)
{
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr *address = family == AF_INET6 ? (struct sockaddr *)&six : (struct sockaddr *)&four;
    socklen_t size = family == AF_INET6 ? sizeof(six) : sizeof(four);
    *descriptor = socket(family, SOCK_STREAM, 0);
    if (*descriptor < 0 || bind(*descriptor, address, size) != 0 || listen(*descriptor, 1) != 0 ||
        getsockname(*descriptor, address, &size) != 0)
        return 0;
    return ntohs(family == AF_INET6 ? six.sin6_port : four.sin_port);
}

TEST(sees_who_listens)
{
    static const int families[] = {AF_INET, AF_INET6};
    for (size_t i = 0; i < 2; i++) {
        int descriptor;
        uint16_t port = listen_somewhere(families[i], &descriptor);
        if (port == 0 && families[i] == AF_INET6)
            continue; /* no IPv6 here */
        CHECK(port != 0);
        CHECK(process_listens("/proc", getpid(), port));
        CHECK(!process_listens("/proc", getppid(), port));
        close(descriptor);
        CHECK(!process_listens("/proc", getpid(), port));
    }
}

TEST(takes_ports_from_addresses)
{
    CHECK_INT(port_of_address(TEXT("spark://CoarseGrainedScheduler@host:12345")), 12345);
    CHECK_INT(port_of_address(TEXT("spark://CoarseGrainedScheduler@[::1]:80")), 80);
    CHECK_INT(port_of_address(TEXT("spark://host")), 0);
    CHECK_INT(port_of_address(TEXT("host:99999")), 0);
    CHECK_INT(port_of_address(TEXT("")), 0);
}
