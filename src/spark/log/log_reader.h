/*
 * log_reader.h - splits a log into records: a line with a head (time, level, …) and its continuation lines.
 *
 * Log4j's text layouts and Spark 4's JSON lines may be mixed. In the output of `yarn logs` the container is named
 * each time it changes. Lines before any head, and Python's tracebacks, are records without a time.
 *
 * Owns: copies of lines, until log_reader_release().
 * Threads: one at a time.
 * Limit: LOG_RECORD_LIMIT_BYTES of one record are kept, the rest is counted.
 */
#ifndef SPARK_LOG_READER_H
#define SPARK_LOG_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/text_builder.h"
#include "base/text_view.h"
#include "spark/log/log_head.h"
#include "spark/log/log_json.h"
#include "spark/log/log_pattern.h"

#define LOG_RECORD_LIMIT_BYTES ((size_t)256 << 10)

struct log_record {
    struct log_head head;  /* time_ms is NO_MS and level LOG_LEVEL_NONE for lines without a head */
    struct text_view more; /* the lines after the first, without the last line end */
    uint64_t line;         /* number of the first, from 1 on */
    uint64_t cut_bytes;    /* that were over the limit */
};

struct log_handler {
    void *context;
    const struct log_pattern *pattern; /* of lines, besides those that are known; NULL: none */
    bool shows_secrets;
    /* False: failed, *error is set. The record is valid during the call. */
    bool (*record)(void *context, const struct log_record *record, struct error *error);
    /* "container_1_2_3_000001" and "host_8041" of a `yarn logs` heading. */
    bool (*container)(void *context, struct text_view id, struct text_view host, struct error *error);
};

struct log_reader {
    struct log_handler handler;
    bool copies_lines; /* lines are valid only until the next one */
    struct log_json json;
    struct text_view first;        /* line of the record at hand */
    struct log_head head;          /* of it, when lines are not copied */
    struct text_builder copy;      /* of it */
    struct text_builder more;      /* the record's other lines, each with its end */
    struct text_builder hidden[2]; /* message and further lines without secrets */
    bool is_inside;                /* no record has begun yet; lines before the first are skipped */
    bool is_open;                  /* there is a record at hand */
    bool has_head;
    uint64_t first_line;
    uint64_t cut_bytes;
    uint64_t line; /* number of the last one taken */
};

void log_reader_init(struct log_reader *reader, const struct log_handler *handler);
void log_reader_release(struct log_reader *reader);
/* Restarts in the middle of a log: continuation lines of an earlier record are skipped, while `is_inside`. */
void log_reader_begin_inside(struct log_reader *reader);
/* The next line, without its end. It must stay until the record is handed out, unless `copies_lines`. */
bool log_reader_take(struct log_reader *reader, struct text_view line, struct error *error) MUST_CHECK;
/* The same for a line that is known to continue a record. */
bool log_reader_go_on(struct log_reader *reader, struct text_view line, struct error *error) MUST_CHECK;
/* Hands out the record at hand, if there is one; at the end of a file. */
bool log_reader_finish(struct log_reader *reader, struct error *error) MUST_CHECK;
/* True when the first bytes of a file look like a log of Spark; `pattern` may be NULL. */
bool log_reader_recognizes(struct text_view head, const struct log_pattern *pattern);

#endif
