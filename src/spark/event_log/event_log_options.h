/*
 * event_log_options.h - how an event log is read, and what reading it counts.
 */
#ifndef SPARK_EVENT_LOG_OPTIONS_H
#define SPARK_EVENT_LOG_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
