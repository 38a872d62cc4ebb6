/*
 * store.h - the recordings of a collector on disk: segments (segment.h) and an index of them (recording_index.h).
 *
 *     FOLDER/lock              held by the one process that uses the folder
 *     FOLDER/segments/N.segment
 *     FOLDER/rollups/N.rollup  sums of recordings (stored_rollup.h), made anew when they are missing
 *     FOLDER/index.sqlite      made anew from the segments when it is missing or damaged
 *
 * store_add() returns when what it stored survives a crash of the machine. Time is passed in, in ms since 1970.
 *
 * Owns: the lock, open segments and the index, until store_close().
 * Threads: what changes the store belongs to one thread at a time; store_reader.h is for others.
 */
#ifndef COLLECTOR_STORE_H
#define COLLECTOR_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/text_view.h"
#include "collector/store/stored_recording.h"
#include "collector/store/recording_index.h"

struct store_options {
    const char *folder;
    uint64_t
        segment_bytes; /* a segment that has as many is full, or a sixteenth of what its group may keep */
    int64_t segment_age_ms;  /* and one that is as old */
    uint64_t group_bytes;    /* of one group; beyond, its oldest segments are deleted; 0: no limit */
    int64_t max_age_ms;      /* segments whose newest recording is older are deleted; 0: no limit */
    uint64_t min_free_bytes; /* on the disk; with less, nothing is stored */
    /* What holds for one group instead of group_bytes and max_age_ms; NULL: the same for all. Called by store_add() and
     * store_expire(). */
    void (*limits)(void *context, const char *group, uint64_t *group_bytes, int64_t *max_age_ms);
    void *limits_context;
    void (*log)(void *context, const char *text); /* one line about what was repaired or deleted */
    void *log_context;
};

#define STORE_INDEX_NAME "index.sqlite"

/* Recordings that are stored at a time. */
#define STORE_BATCH_LIMIT 256

struct store;

enum store_result {
    STORE_NEW,      /* stored and synced */
    STORE_KNOWN,    /* is there already, with these bytes */
    STORE_CONFLICT, /* is there already, with other bytes */
    STORE_FULL,     /* the disk is full, or nearly; nothing was stored */
    STORE_FAILED,   /* nothing was stored, *error of the batch says why */
};

struct store_item {
    struct stored_recording *recording; /* its key, kind and labels; the rest is set */
    struct text_view body;
    enum store_result result;
};

/* Creates the folder if there is none, and indexes what the index does not have yet. NULL with *error set. */
struct store *store_open(const struct store_options *options, struct error *error) MUST_CHECK;
/* NULL is allowed. */
void store_close(struct store *store);
/* Stores up to STORE_BATCH_LIMIT recordings with one sync for each of their groups, and sets their results. *error is
 * set if one failed or the disk is full. When the clock was set back they count as received with the newest. */
void store_add(struct store *store, struct store_item *items, size_t count, int64_t now_ms,
               struct error *error);
/* Deletes segments that are beyond the bytes of their group, and with `by_age` those that are too old. Without, it logs
 * once if even the newest recording is. */
bool store_expire(struct store *store, int64_t now_ms, bool by_age, struct error *error) MUST_CHECK;

/* The highest number that a roll-up was given. */
uint64_t store_last_rollup(const struct store *store);
/* Takes the file of this number, which is complete and synced, among the roll-ups, and deletes those of its level that
 * it contains. *added is false if its first recording is gone; then the file is deleted. */
bool store_add_rollup(struct store *store, uint64_t number, bool *added, struct error *error) MUST_CHECK;

struct store_check {
    uint64_t recordings;
    uint64_t bytes;
    uint64_t segments;
    uint64_t damaged;    /* places in segments where a record cannot be read, and heads of segments */
    uint64_t tails;      /* segments that end inside a record which was never acknowledged */
    uint64_t duplicates; /* keys that are stored again */
    uint64_t missing;    /* recordings that the index has and no segment */
    uint64_t rollups;
    uint64_t rollups_removed; /* since they were damaged, or sums of other recordings */
    bool index_differed;      /* from the segments, and was replaced */
};

/* Reads all segments and roll-ups, compares the index with the segments and replaces it if it differs, and removes
 * roll-ups that are not of these recordings. No other process may use the folder. */
bool store_verify(const struct store_options *options, struct store_check *check,
                  struct error *error) MUST_CHECK;

#endif
