/*
 * spark_log.h - the logs of one application: driver and executors, of one file or of many.
 *
 * Owns: its content, until spark_log_release().
 * Threads: one at a time; starts others itself.
 */
#ifndef SPARK_SPARK_LOG_H
#define SPARK_SPARK_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "input/byte_source.h"
#include "spark/application.h"
#include "spark/log/log_chunks.h"
#include "spark/log/log_errors.h"
#include "spark/log/log_reader.h"
#include "spark/log/log_tasks.h"
#include "spark/log/spark_log_options.h"

/* One file, or one container's part of it. Texts are numbers of application.strings. */
struct log_source {
    uint32_t path;
    uint32_t container; /* "container_1_2_3_000001"; 0: none */
    uint32_t host;
    uint32_t executor; /* its id; 0: unknown */
    bool is_driver;
    uint64_t records; /* with and without a head */
};

struct spark_log {
    struct spark_log_options options;
    struct application application;
    struct log_tasks tasks;
    struct log_errors errors;
    struct log_chunks chunks;
    struct log_source *sources;
    size_t source_count, source_capacity;
    uint64_t lines;
    uint64_t records;
    uint64_t cut_bytes; /* of records over LOG_RECORD_LIMIT_BYTES */
    uint64_t records_of_level[LOG_LEVEL_FATAL + 1];
};

bool spark_log_init(struct spark_log *log, const struct spark_log_options *options,
                    struct error *error) MUST_CHECK;
void spark_log_release(struct spark_log *log);
/* Adds a file, packed or not, or "-". On failure, what was read before is kept. */
bool spark_log_read(struct spark_log *log, const char *path, struct error *error) MUST_CHECK;
/* Several files at once; reports those that cannot be read, and reads the others. */
bool spark_log_read_files(struct spark_log *log, const char *const *paths, size_t count,
                          void (*failed)(void *context, const char *message), void *context,
                          struct error *error) MUST_CHECK;
bool spark_log_read_source(struct spark_log *log, struct byte_source *source, struct error *error) MUST_CHECK;
/* Call once, after the last file. */
bool spark_log_finish(struct spark_log *log, struct error *error) MUST_CHECK;

/* "application_1700000000000_0001" or "app-20240601105236-0000" in a path; empty when there is none. */
struct text_view spark_log_application_of(struct text_view path);
/* True when the file looks like a log, by its name (stderr, stdout, with any ending) or its first bytes. */
bool spark_log_is_log(const struct spark_log *log, const char *path);

#endif
