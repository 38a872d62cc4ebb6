/*
 * query_runner.h - runs queries of recordings, each as a process of its own (child_process.h), a few at a time, so that
 * storing goes on meanwhile.
 *
 * Owns: its threads, until query_runner_free(). Threads: any may add.
 * Limit: QUERY_WAITING_LIMIT queries wait, half of them of one token.
 */
#ifndef COLLECTOR_QUERY_RUNNER_H
#define COLLECTOR_QUERY_RUNNER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/text_builder.h"
#include "collector/query/child_process.h"
#include "collector/query/query_folder.h"

#define QUERY_WAITING_LIMIT 32

struct query_limits {
    unsigned threads;          /* queries at a time */
    struct child_limits child; /* of one */
    uint64_t answer_bytes;
};

/* One query on its way. The caller owns it, until `done` was called on a thread of the runner. */
struct query {
    struct text_builder arguments;   /* each with a zero byte after it */
    struct text_builder then;        /* of a second process, after the first went well; or empty */
    char folder[QUERY_FOLDER_BYTES]; /* "", or a folder that is removed at the end */
    char who[16];                    /* the id of the token */
    struct text_builder answer;
    enum child_outcome outcome;
    struct error error; /* unless the outcome is CHILD_GOOD */
    void (*done)(struct query *query);
    void *context;
    struct query *next;
};

void query_init(struct query *query);
void query_release(struct query *query);
/* Adds the argument "name=value", or only the name if the value is NULL. */
void query_argument(struct text_builder *arguments, const char *name, const char *value);

struct query_runner;

struct query_counts {
    uint64_t waiting, running;
    uint64_t outcomes[CHILD_NO_START + 1];
};

/* NULL with *error set. */
struct query_runner *query_runner_start(const struct query_limits *limits, struct error *error) MUST_CHECK;
/* Ends what runs and waits, and takes nothing from then on. NULL is allowed. */
void query_runner_stop(struct query_runner *runner);
/* After query_runner_stop(). NULL is allowed. */
void query_runner_free(struct query_runner *runner);
/* False: too many wait, or it was stopped; the query stays the caller's. */
bool query_runner_add(struct query_runner *runner, struct query *query) MUST_CHECK;
void query_runner_count(struct query_runner *runner, struct query_counts *counts);

#endif
