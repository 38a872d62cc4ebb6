/*
 * log_reader.h - takes a log apart into records: a line with a head (time, level, …) and the lines that go on with it.
 *
 * Log4j's text layouts and Spark 4's JSON lines may be mixed. In the output of `yarn logs` the container is told each
 * time it changes. Lines before any head, and Python's tracebacks, are records without a time.
 *
 * Owns: nothing.
 * Threads: one at a time.
 * Limit: LOG_RECORD_LIMIT_BYTES of one record are kept, the rest is counted.
 */
#ifndef SPARK_LOG_READER_H
#define SPARK_LOG_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/text_view.h"
#include "formats/byte_source.h"
#include "spark/log_head.h"
#include "spark/log_pattern.h"
#include "spark/log_zone.h"

#define LOG_RECORD_LIMIT_BYTES ((size_t)256 << 10)

struct log_record {
    struct log_head head;  /* time_ms is NO_MS and level LOG_LEVEL_NONE for lines without a head */
    struct text_view more; /* the lines after the first, without the last line end */
    uint64_t line;         /* number of the first, from 1 on */
    uint64_t cut_bytes;    /* that were over the limit */
};

struct log_handler {
    void *context;
    struct log_zone *zone;             /* of times that name none */
    const struct log_pattern *pattern; /* of lines, besides those that are known; NULL: none */
    bool shows_secrets;
    /* False: failed, *error is set. The record is valid during the call. */
    bool (*record)(void *context, const struct log_record *record, struct error *error);
    /* "container_1_2_3_000001" and "host_8041" of a `yarn logs` heading. */
    bool (*container)(void *context, struct text_view id, struct text_view host, struct error *error);
};

/* Hands out all records. *lines counts; on failure the records before it were handed out. */
bool log_reader_read(struct byte_source *source, const struct log_handler *handler, uint64_t *lines,
                     struct error *error) MUST_CHECK;
/* True when the first bytes of a file look like a log of Spark; `pattern` may be NULL. */
bool log_reader_recognizes(struct text_view head, const struct log_pattern *pattern);

#endif
