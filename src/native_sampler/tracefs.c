#include "native_sampler/tracefs.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text_view.h"

#define MOST_PATH_BYTES 512

static const char *const folders[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};

/* 0 or errno. */
static int read_file(const char *path, char *text, size_t size)
{
    size_t used = 0;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return errno;
    ssize_t got = 1;
    while (got > 0 && used + 1 < size) {
        got = read(file, text + used, size - 1 - used);
        used += got > 0 ? (size_t)got : 0;
    }
    int reason = got < 0 ? errno : 0;
    close(file);
    text[used] = '\0';
    return reason;
}

static bool is_mounted(const char *folder)
{
    char path[MOST_PATH_BYTES];
    snprintf(path, sizeof(path), "%s/events", folder);
    return access(path, F_OK) == 0;
}

/* Only system calls, since other threads may hold locks. Its mounts end with it. */
static _Noreturn void read_as_child(const char *path, char *text, size_t size, int output)
{
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("tracefs", folders[0], "tracefs", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) != 0)
        _exit(ENODEV);
    int reason = read_file(path, text, size);
    size_t length = reason == 0 ? strlen(text) : 0;
    if (write(output, text, length) != (ssize_t)length)
        reason = EIO;
    _exit(reason);
}

/* `path` is below the first folder. */
static int read_unmounted(const char *path, char *text, size_t size)
{
    int pipe_ends[2], status = 0;
    size_t used = 0;
    if (pipe2(pipe_ends, O_CLOEXEC) != 0)
        return errno;
    pid_t child = fork();
    if (child == 0)
        read_as_child(path, text, size, pipe_ends[1]);
    close(pipe_ends[1]);
    ssize_t got = child > 0 ? 1 : 0;
    while (got > 0 && used + 1 < size) {
        got = read(pipe_ends[0], text + used, size - 1 - used);
        used += got > 0 ? (size_t)got : 0;
    }
    text[used] = '\0';
    close(pipe_ends[0]);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return child < 0 || !WIFEXITED(status) ? ENODEV : WEXITSTATUS(status);
}

int tracefs_read(const char *name, char *text, size_t size)
{
    char path[MOST_PATH_BYTES];
    int reason = ENODEV;
    for (size_t i = 0; i < COUNT_OF(folders); i++) {
        snprintf(path, sizeof(path), "%s/%s", folders[i], name);
        int found = read_file(path, text, size);
        if (found == 0)
            return 0;
        if (found != ENOENT || is_mounted(folders[i]))
            reason = found;
    }
    if (reason != ENODEV || geteuid() != 0)
        return reason;
    snprintf(path, sizeof(path), "%s/%s", folders[0], name);
    return read_unmounted(path, text, size);
}

/* "	field:pid_t pid;	offset:24;	size:4;	signed:1;" */
static bool parse_field(struct text_view line, struct text_view field, size_t size, size_t *offset)
{
    uint64_t at, bytes;
    struct text_view declaration = text_trim(text_cut(&line, ';'));
    struct text_view place = text_trim(text_cut(&line, ';')), length = text_trim(text_cut(&line, ';'));
    if (!text_starts_with(declaration, TEXT("field:")) || !text_ends_with(declaration, field) ||
        declaration.size <= field.size || declaration.data[declaration.size - field.size - 1] != ' ' ||
        !text_starts_with(place, TEXT("offset:")) || !text_starts_with(length, TEXT("size:")) ||
        !text_to_u64(text_from(place, 7), &at) || !text_to_u64(text_from(length, 5), &bytes) ||
        bytes != size || at > MOST_PATH_BYTES)
        return false;
    *offset = (size_t)at;
    return true;
}

bool tracefs_find_field(const char *format, const char *field, size_t size, size_t *offset)
{
    struct text_view rest = text_of(format);
    while (rest.size > 0)
        if (parse_field(text_cut(&rest, '\n'), text_of(field), size, offset))
            return true;
    return false;
}
