/*
 * log_errors.h - deduplicated errors and exceptions of an application's logs: root cause, count, location, task.
 *
 * Errors are equal if logger, message and exceptions are, ignoring numbers and identifiers.
 *
 * Owns: texts and items, until log_errors_release().
 * Threads: one at a time.
 * Limit: LOG_ERRORS_LIMIT_BYTES of texts; errors over it are counted as `lost`.
 */
#ifndef SPARK_LOG_ERRORS_H
#define SPARK_LOG_ERRORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/id_map.h"
#include "base/string_table.h"
#include "base/text_builder.h"
#include "spark/log/log_reader.h"

#define LOG_ERRORS_LIMIT_BYTES ((size_t)256 << 20)

struct log_error {
    enum log_level level;
    uint32_t logger;
    uint32_t message; /* its first line */
    uint32_t more;    /* the lines after it */
    uint32_t cause;   /* "java.io.IOException: disk full": the exception at the root; 0: none is named */
    uint64_t count;
    uint32_t source_count; /* logs that have it */
    int64_t first_ms;      /* NO_MS: no time is known */
    int64_t last_ms;
    uint32_t source; /* first occurrence, with its line */
    uint64_t line;
    int64_t stage; /* of the last occurrence that has one; -1: none */
    int64_t stage_attempt;
    int64_t task;
};

struct log_errors {
    struct string_table texts;
    struct string_table keys;
    struct log_error *items;
    size_t size, capacity;
    struct id_map seen_in; /* (error, source) */
    uint64_t lost;
};

bool log_errors_init(struct log_errors *errors, struct error *error) MUST_CHECK;
void log_errors_release(struct log_errors *errors);
/* Records below the level count only when they hold an exception. */
bool log_errors_is_error(const struct log_record *record, enum log_level least_level);
/* What equal errors share: logger, message, exceptions, and the frame that threw each; not all of a very long one. */
void log_errors_key(const struct log_record *record, struct text_builder *key);
/* An error, with its key. */
void log_errors_take(struct log_errors *errors, const struct log_record *record, struct text_view key,
                     uint32_t source);
/* The newest first. */
void log_errors_sort(struct log_errors *errors);

#endif
