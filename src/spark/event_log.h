/*
 * event_log.h - reads Spark's event logs: one file, or a folder of a rolling log (eventlog_v2_…), packed or not.
 *
 * Owns: nothing. Threads: one at a time.
 */
#ifndef SPARK_EVENT_LOG_H
#define SPARK_EVENT_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/text_view.h"
#include "spark/application.h"

#define EVENT_LOG_LINE_LIMIT_BYTES ((size_t)512 << 20)

struct event_log_counts {
    uint64_t lines;
    uint64_t events;       /* that were understood */
    bool last_line_is_cut; /* as in the log of a running or killed application */
};

/* True when the first bytes of a file look like an event log. */
bool event_log_recognizes(struct text_view head);
/* True for the folder of a rolling log. */
bool event_log_is_folder(const char *path);
/* Adds what the log tells. On failure *error says where, and the application keeps what was read before. */
bool event_log_read(const char *path, struct application *application, struct event_log_counts *counts,
                    struct error *error) MUST_CHECK;
/* One line, for tests and fuzzing. False: bad JSON, or out of memory. */
bool event_log_read_line(struct application *application, struct text_view line,
                         struct error *error) MUST_CHECK;

#endif
