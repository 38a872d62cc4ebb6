/*
 * event_log.h - reads Spark's event logs: one file, or a folder of a rolling log (eventlog_v2_…), compressed or not.
 *
 * Owns: nothing. Threads: one at a time; starts others itself.
 */
#ifndef SPARK_EVENT_LOG_H
#define SPARK_EVENT_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/text_view.h"
#include "spark/application.h"
#include "spark/event_log/event_log_options.h"

/* True when the first bytes of a file look like an event log. */
bool event_log_recognizes(struct text_view head);
/* True for the folder of a rolling log. */
bool event_log_is_folder(const char *path);
/* The application of the log, from its first events. */
struct event_log_identity {
    char application[200]; /* "app-20261116073000-0001"; empty: unknown */
    char attempt[20];      /* "2"; empty: none */
    char name[100];
};

/* False: it cannot be read; event_log_read() returns the reason. */
bool event_log_identify(const char *path, struct event_log_identity *identity) MUST_CHECK;
/* Adds the events of the log; `options` may be NULL. On failure *error has the place, and what was read before is
 * kept. */
bool event_log_read(const char *path, const struct event_log_options *options,
                    struct application *application, struct event_log_counts *counts,
                    struct error *error) MUST_CHECK;
#endif
