/*
 * merge_work.h - what those share who read the files of a merge, at once or one after the other: how files are read,
 * which were broken, and the first error that ends the work.
 *
 * Owns: the list of broken files, until merge_work_release(). Borrows the options.
 * Threads: several may call merge_work_read(), merge_work_add() and merge_work_end(), each with a profile and a merger
 * of its own.
 */
#ifndef COMMANDS_MERGE_WORK_H
#define COMMANDS_MERGE_WORK_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "commands/progress.h"
#include "formats/reader.h"
#include "model/merger.h"

struct merge_work {
    const struct read_options *read;
    const struct reader *format; /* NULL: detected */
    bool stitch;
    struct merger_options options;
    atomic_bool failed;
    /* Under the lock, until all have ended. */
    pthread_mutex_t lock;
    struct error error;
    size_t files; /* that were read, or broken */
    char **broken;
    size_t broken_count, broken_capacity;
    struct passed_events passed;
    struct progress progress;
};

void merge_work_init(struct merge_work *work, bool quiet);
void merge_work_release(struct merge_work *work);
void merge_work_end(struct merge_work *work, const struct error *error);
/* Reads a file, whose bytes may be in memory (else NULL). False: it is broken, and listed, or the work has ended. */
bool merge_work_read(struct merge_work *work, const char *path, const struct text_view *bytes,
                     struct profile *profile) MUST_CHECK;
/* Adds what one or more files of a process were read to, and releases it. */
void merge_work_add(struct merge_work *work, struct profile *profile, struct merger *merger);
/* Once all have ended: messages about broken files, in the order of their names. */
void merge_work_sort_broken(struct merge_work *work);

#endif
