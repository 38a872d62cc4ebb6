#include "processes/process_ports.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { SOCKET_LIMIT = 16, LISTENING = 0x0a };

uint16_t port_of_address(struct text_view address)
{
    uint64_t port;
    size_t colon = text_find_last_byte(address, ':');
    if (colon == TEXT_NOT_FOUND || !text_to_u64(text_from(address, colon + 1), &port) || port > UINT16_MAX)
        return 0;
    return (uint16_t)port;
}

/* Lines of net/tcp: "  0: 0100007F:1F90 00000000:0000 0A … uid timeout inode". Adds the inodes that listen on the
 * port. */
static size_t find_sockets(const char *path, uint16_t port, unsigned long *inodes, size_t count)
{
    char line[512];
    FILE *stream = fopen(path, "re");
    while (stream != NULL && count < SOCKET_LIMIT && fgets(line, sizeof(line), stream) != NULL) {
        unsigned local_port, state;
        unsigned long inode;
        if (sscanf(line, "%*d: %*[0-9A-Fa-f]:%x %*[0-9A-Fa-f]:%*x %x %*s %*s %*s %*s %*s %lu", &local_port,
                   &state, &inode) == 3 &&
            local_port == port && state == LISTENING)
            inodes[count++] = inode;
    }
    if (stream != NULL)
        fclose(stream);
    return count;
}

static bool is_one_of(const char *link, const unsigned long *inodes, size_t count)
{
    unsigned long inode;
    if (sscanf(link, "socket:[%lu]", &inode) != 1)
        return false;
    for (size_t i = 0; i < count; i++)
        if (inodes[i] == inode)
            return true;
    return false;
}

static bool has_socket(const char *folder, pid_t pid, const unsigned long *inodes, size_t count)
{
    char path[512], link[64];
    bool found = false;
    snprintf(path, sizeof(path), "%s/%d/fd", folder, (int)pid);
    DIR *stream = opendir(path);
    if (stream == NULL)
        return false;
    for (const struct dirent *entry; !found && (entry = readdir(stream)) != NULL;) {
        ssize_t size = readlinkat(dirfd(stream), entry->d_name, link, sizeof(link) - 1);
        link[size > 0 ? size : 0] = '\0';
        found = is_one_of(link, inodes, count);
    }
    closedir(stream);
    return found;
}

bool process_listens(const char *folder, pid_t pid, uint16_t port)
{
    char path[512];
    unsigned long inodes[SOCKET_LIMIT];
    snprintf(path, sizeof(path), "%s/%d/net/tcp", folder, (int)pid);
    size_t count = find_sockets(path, port, inodes, 0);
    snprintf(path, sizeof(path), "%s/%d/net/tcp6", folder, (int)pid);
    count = find_sockets(path, port, inodes, count);
    return count > 0 && has_socket(folder, pid, inodes, count);
}
