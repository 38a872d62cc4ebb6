/*
 * progress.h - a progress line on a terminal; nothing if standard error is not a terminal.
 *
 * Owns: nothing. Threads: one at a time.
 */
#ifndef COMMANDS_PROGRESS_H
#define COMMANDS_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    bool is_shown;
    const char *path; /* of the file that is read; borrowed */
    uint64_t files;
    uint64_t bytes;
    int64_t next_ns; /* when the line is written again */
};

void progress_init(struct progress *progress, bool quiet);
void progress_file(struct progress *progress, const char *path);
/* `context` is the struct progress; fits callbacks of readers. */
void progress_advance(void *context, uint64_t bytes);
/* Clears the line, before anything else is printed. */
void progress_wipe(const struct progress *progress);

#endif
