/*
 * log_files.h - the entries of several logs, in order: several threads take pieces of them apart, one is told of all.
 *
 * What is told does not depend on the number of threads.
 *
 * Owns: nothing. Threads: one at a time; it starts others of its own.
 */
#ifndef SPARK_LOG_FILES_H
#define SPARK_LOG_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "formats/byte_source.h"
#include "spark/log_entry.h"
#include "spark/spark_log_options.h"

struct log_files {
    const char *const *paths; /* packed or not, or "-" */
    size_t count;
    struct byte_source *source; /* instead of paths: one that is open, and stays so; else NULL */
    const struct spark_log_options *options;
    void *context;
    /* All may fail: then *error is set, and reading ends. */
    bool (*begin)(void *context, const char *path, struct error *error);
    bool (*entry)(void *context, struct log_entry *entry, struct error *error);
    /* Of the file that was begun. `failure` says why it could not be read to its end; NULL: it was. */
    bool (*end)(void *context, uint64_t lines, const struct error *failure, struct error *error);
};

bool log_files_read(const struct log_files *files, struct error *error) MUST_CHECK;

#endif
