/*
 * committer.h - the one thread that writes to the store: it takes all recordings that wait, stores them with one sync,
 * and then reports each. It also deletes what has expired.
 *
 * Owns: its thread and queue, until committer_free(). The store stays the caller's.
 * Threads: any may add.
 */
#ifndef COLLECTOR_COMMITTER_H
#define COLLECTOR_COMMITTER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "collector/store/store.h"

struct committer;

/* One recording on its way. The caller owns it, until `done` was called on the committer's thread. */
struct commit {
    struct stored_recording recording;
    struct text_view body;
    enum store_result result;
    struct error error; /* of STORE_FULL and STORE_FAILED */
    void (*done)(struct commit *commit);
    void *context;
    struct commit *next;
};

struct committer_counts {
    uint64_t batches;
    uint64_t waiting;
    uint64_t results[STORE_FAILED + 1];
    uint64_t sync_us; /* spent in store_add() */
};

/* NULL with *error set. */
struct committer *committer_start(struct store *store, int64_t (*now_ms)(void),
                                  void (*log)(void *context, const char *text), void *log_context,
                                  struct error *error) MUST_CHECK;
/* Stores what still waits, and takes nothing from then on. NULL is allowed. */
void committer_stop(struct committer *committer);
/* After committer_stop(). NULL is allowed. */
void committer_free(struct committer *committer);
/* False: it was stopped. */
bool committer_add(struct committer *committer, struct commit *commit) MUST_CHECK;
/* Lets the thread call `work` between two batches, and waits until it has. False: it was stopped. */
bool committer_do(struct committer *committer, void (*work)(void *context, struct store *store),
                  void *context) MUST_CHECK;
void committer_count(struct committer *committer, struct committer_counts *counts);

#endif
