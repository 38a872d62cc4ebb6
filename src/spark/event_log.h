/*
 * event_log.h - reads Spark's event logs: one file, or a folder of a rolling log (eventlog_v2_…), packed or not.
 *
 * Owns: nothing. Threads: one at a time; it starts others of its own.
 */
#ifndef SPARK_EVENT_LOG_H
#define SPARK_EVENT_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/text_view.h"
#include "spark/application.h"

struct event_log_counts {
    uint64_t lines;
    uint64_t events;       /* that were understood */
    bool last_line_is_cut; /* as in the log of a running or killed application */
};

struct event_log_options {
    size_t threads; /* 0: one */
    void (*progress)(void *context,
                     uint64_t bytes_read); /* since the last call, unpacked; NULL: nobody asks */
    void *progress_context;
};

/* True when the first bytes of a file look like an event log. */
bool event_log_recognizes(struct text_view head);
/* True for the folder of a rolling log. */
bool event_log_is_folder(const char *path);
/* Whose log it is, as its first events tell. */
struct event_log_identity {
    char application[200]; /* "app-20261116073000-0001"; empty: not told */
    char attempt[20];      /* "2"; empty: none */
    char name[100];
};

/* False when it cannot be read; event_log_read() says why. */
bool event_log_identify(const char *path, struct event_log_identity *identity) MUST_CHECK;
/* Adds what the log tells; `options` may be NULL. On failure *error says where, and the application keeps what was read before. */
bool event_log_read(const char *path, const struct event_log_options *options,
                    struct application *application, struct event_log_counts *counts,
                    struct error *error) MUST_CHECK;
#endif
