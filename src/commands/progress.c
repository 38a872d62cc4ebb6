#include "commands/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PAUSE_NS INT64_C(200000000)

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void progress_init(struct progress *progress, bool quiet)
{
    *progress = (struct progress){.is_shown = !quiet && isatty(STDERR_FILENO), .path = ""};
}

void progress_file(struct progress *progress, const char *path)
{
    const char *slash = strrchr(path, '/');
    progress->path = slash == NULL || slash[1] == '\0' ? path : slash + 1;
    progress->files++;
}

void progress_advance(void *context, uint64_t bytes)
{
    struct progress *progress = context;
    progress->bytes += bytes;
    if (!progress->is_shown)
        return;
    int64_t now = now_ns();
    if (now < progress->next_ns)
        return;
    progress->next_ns = now + PAUSE_NS;
    fprintf(stderr, "\r%" PRIu64 " MB read; file %" PRIu64 ": %.60s\033[K", progress->bytes >> 20,
            progress->files, progress->path);
    fflush(stderr);
}

void progress_wipe(const struct progress *progress)
{
    if (progress->is_shown && progress->next_ns != 0)
        fprintf(stderr, "\r\033[K");
}
