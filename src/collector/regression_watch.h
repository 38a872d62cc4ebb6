/*
 * regression_watch.h - has each application compared with its earlier runs when it has ended, remembers what was found,
 * and reports regressions.
 *
 * An application has ended when it has sent nothing for a while; one that goes on is compared once a day. One query
 * runs at a time. Results are in a file of the data directory, so after a restart none is reported again, and those
 * that were not reported yet are; an application is reported once a day at most. Reports are made by a thread of its
 * own, which tries again with growing pauses.
 *
 * Owns: its thread, and what it knows, until regression_watch_close().
 * Threads: any may note, list and count; regression_watch_tick() belongs to one.
 * Limit: WATCHED_LIMIT applications that are going on, beyond which new ones are not compared; regression_results.h has
 * that of results.
 */
#ifndef COLLECTOR_REGRESSION_WATCH_H
#define COLLECTOR_REGRESSION_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/output.h"
#include "collector/query/query_runner.h"
#include "collector/store/recording_index.h"
#include "collector/store/stored_recording.h"

#define WATCHED_LIMIT 100000

enum post_outcome {
    POST_GOOD,
    POST_AGAIN, /* it may go better later */
    POST_REFUSED,
};

struct regression_options {
    const char *folder; /* the data directory */
    int64_t ended_ms;   /* without a recording for so long an application has ended; 0: nothing is compared */
    /* Reports a regression; blocks for some seconds at most. NULL: they are only kept. */
    enum post_outcome (*post)(void *context, struct text_view json, struct error *error);
    void *post_context;
    void (*log)(void *context, const char *text);
    void *log_context;
};

struct regression_watch;

/* NULL with *error set. */
struct regression_watch *regression_watch_open(const struct regression_options *options,
                                               struct error *error) MUST_CHECK;
/* Applications of the index that sent within the last day, so that none is forgotten by a restart; then the thread. */
bool regression_watch_start(struct regression_watch *watch, struct recording_index *index, int64_t now_ms,
                            struct error *error) MUST_CHECK;
/* From now on no report begins. */
void regression_watch_quiesce(struct regression_watch *watch);
/* After the queries were stopped. NULL is allowed. */
void regression_watch_close(struct regression_watch *watch);
/* A recording was stored. NULL is allowed. */
void regression_watch_note(struct regression_watch *watch, const struct stored_recording *recording);
/* Starts the next comparison that is due. To be called about once a second. */
void regression_watch_tick(struct regression_watch *watch, struct query_runner *queries, int64_t now_ms);
/* {"checked":N,"regressions":[…]} of a group, the newest first. */
void regression_watch_write(struct regression_watch *watch, const char *group, uint64_t limit,
                            struct output *output);

struct regression_counts {
    uint64_t watched, checked, failed, found, reported, waiting, given_up;
};

void regression_watch_count(struct regression_watch *watch, struct regression_counts *counts);

#endif
