/*
 * log_files.h - the entries of several logs, in order: several threads parse pieces of them, one thread receives all
 * entries.
 *
 * The result does not depend on the number of threads.
 *
 * Owns: nothing. Threads: one at a time; starts others itself.
 */
#ifndef SPARK_LOG_FILES_H
#define SPARK_LOG_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "input/byte_source.h"
#include "spark/log/log_entry.h"
#include "spark/log/spark_log_options.h"

struct log_files {
    const char *const *paths; /* packed or not, or "-" */
    size_t count;
    struct byte_source *source; /* instead of paths: an open source, which is not closed; else NULL */
    const struct spark_log_options *options;
    void *context;
    /* All may fail: then *error is set, and reading ends. */
    bool (*begin)(void *context, const char *path, struct error *error);
    bool (*entry)(void *context, struct log_entry *entry, struct error *error);
    /* At the end of the file. `failure`: why it could not be read completely; NULL: it was. */
    bool (*end)(void *context, uint64_t lines, const struct error *failure, struct error *error);
};

bool log_files_read(const struct log_files *files, struct error *error) MUST_CHECK;

#endif
