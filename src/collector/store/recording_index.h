/*
 * recording_index.h - which recordings there are, in SQLite. It holds nothing that the segments do not hold, and is
 * made anew from them when it is lost or damaged (ERROR_BAD_INPUT); so a commit need not be synced.
 *
 * Owns: its connection and statements, until recording_index_close(). Threads: one at a time.
 */
#ifndef COLLECTOR_RECORDING_INDEX_H
#define COLLECTOR_RECORDING_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "collector/store/stored_recording.h"
#include "collector/store/stored_rollup.h"

struct recording_index;

/* NULL with *error set; *is_damaged if it has to be made anew. */
struct recording_index *recording_index_open(const char *path, bool *is_damaged,
                                             struct error *error) MUST_CHECK;
/* For queries only, beside the one that writes. */
struct recording_index *recording_index_open_reader(const char *path, struct error *error) MUST_CHECK;
/* From now on statements fail with ERROR_MEMORY when that much time has passed since recording_index_start_clock(). */
void recording_index_limit_time(struct recording_index *index, unsigned seconds);
void recording_index_start_clock(struct recording_index *index);
/* NULL is allowed. */
void recording_index_close(struct recording_index *index);
/* Removes the files of an index that is closed. */
void recording_index_remove(const char *path);

bool recording_index_begin(struct recording_index *index, struct error *error) MUST_CHECK;
bool recording_index_commit(struct recording_index *index, struct error *error) MUST_CHECK;
void recording_index_roll_back(struct recording_index *index);

/* Looks for the same key. */
bool recording_index_find(struct recording_index *index, const struct stored_recording *key, bool *found,
                          struct stored_recording *recording, struct error *error) MUST_CHECK;
bool recording_index_get(struct recording_index *index, uint64_t number, bool *found,
                         struct stored_recording *recording, struct error *error) MUST_CHECK;
/* *added is false if the key or number is there already. */
bool recording_index_add(struct recording_index *index, const struct stored_recording *recording, bool *added,
                         struct error *error) MUST_CHECK;
bool recording_index_remove_segment(struct recording_index *index, uint64_t segment,
                                    struct error *error) MUST_CHECK;

/* Of all recordings. */
struct index_totals {
    uint64_t recordings;
    uint64_t bytes;       /* of bodies */
    uint64_t last_number; /* the highest that was ever given */
    int64_t newest_ms;    /* received */
};

bool recording_index_totals(struct recording_index *index, struct index_totals *totals,
                            struct error *error) MUST_CHECK;

/* One segment of which recordings are indexed. */
struct indexed_segment {
    uint64_t number;
    uint64_t end; /* of its last record */
    int64_t newest_ms;
};

/* Calls `take` for each indexed segment, by number. False from `take` ends this and the other functions of the kind. */
bool recording_index_each_segment(struct recording_index *index,
                                  bool (*take)(void *context, const struct indexed_segment *segment),
                                  void *context, struct error *error) MUST_CHECK;

/* Which recordings are wanted; NULL: any. */
struct recording_query {
    const char *group;
    const char *application;
    const char *attempt;
    const char *executor;
    int64_t from_ms, to_ms; /* received in [from, to) */
    uint64_t after;         /* only higher numbers */
    uint64_t before;        /* and lower ones than this; 0: any */
    uint64_t limit;
};

bool recording_index_each(struct recording_index *index, const struct recording_query *query,
                          bool (*take)(void *context, const struct stored_recording *recording),
                          void *context, struct error *error) MUST_CHECK;

/* One group, or one application of a group. */
struct recording_sum {
    const char *group;
    const char *application; /* NULL: of a group */
    const char *attempt;
    uint64_t applications; /* of a group */
    uint64_t executors;    /* of an application */
    uint64_t recordings;
    uint64_t bytes;
    int64_t first_ms, last_ms; /* received */
};

typedef bool (*recording_sum_taker)(void *context, const struct recording_sum *sum);

bool recording_index_each_group(struct recording_index *index, recording_sum_taker take, void *context,
                                struct error *error) MUST_CHECK;
/* The applications of a group, those that sent last first. */
bool recording_index_each_application(struct recording_index *index, const char *group, uint64_t limit,
                                      recording_sum_taker take, void *context,
                                      struct error *error) MUST_CHECK;

/* Recordings received in one step of time. */
struct recording_step {
    int64_t time_ms; /* begin of the step */
    uint64_t recordings;
    uint64_t bytes;
    uint64_t executors;
};

/* The steps in which there are recordings, in order, counted from query->from_ms. The query has a group. */
bool recording_index_each_step(struct recording_index *index, const struct recording_query *query,
                               int64_t step_ms,
                               bool (*take)(void *context, const struct recording_step *step), void *context,
                               struct error *error) MUST_CHECK;
/* Each different set of labels, as lines "name=value". The query has a group. */
bool recording_index_each_labels(struct recording_index *index, const struct recording_query *query,
                                 bool (*take)(void *context, struct text_view labels), void *context,
                                 struct error *error) MUST_CHECK;
/* What recordings have in common: all but their numbers, times and bytes. */
struct recording_series {
    struct text_view application, attempt, executor;
    struct text_view kind;
    struct text_view labels; /* lines "name=value" */
};

/* Each different series, at most query->limit. The query has a group; `after` does not count. */
bool recording_index_each_series(struct recording_index *index, const struct recording_query *query,
                                 bool (*take)(void *context, const struct recording_series *series),
                                 void *context, struct error *error) MUST_CHECK;
/* When the first and the last of a query were received; both 0 if there is none. The query has a group. */
bool recording_index_span(struct recording_index *index, const struct recording_query *query,
                          int64_t *first_ms, int64_t *last_ms, struct error *error) MUST_CHECK;

/* ---- ranges of numbers ---- */

/* The lowest number from which on all recordings were received then or later. */
bool recording_index_first_since(struct recording_index *index, int64_t received_ms, uint64_t *number,
                                 struct error *error) MUST_CHECK;

/* Recordings of a group. */
struct recording_span {
    uint64_t recordings;
    uint64_t first, last; /* numbers; 0 if there are none */
    int64_t first_ms, last_ms;
    uint64_t fingerprint; /* the sum of their checksums */
};

/* The first `limit` ones of a group with numbers in [from, before). */
bool recording_index_range(struct recording_index *index, const char *group, uint64_t from, uint64_t before,
                           uint64_t limit, struct recording_span *range, struct error *error) MUST_CHECK;
/* Recordings of an application by their numbers, at most query->limit; times do not count. */
bool recording_index_count(struct recording_index *index, const struct recording_query *query,
                           uint64_t *count, struct error *error) MUST_CHECK;
/* Groups that have recordings with higher numbers, and the highest of each. */
bool recording_index_each_change(struct recording_index *index, uint64_t after,
                                 bool (*take)(void *context, const char *group, uint64_t last), void *context,
                                 struct error *error) MUST_CHECK;
/* The highest number in a segment, and whose it is; 0 and "" if nothing of it is indexed. */
bool recording_index_segment_end(struct recording_index *index, uint64_t segment, uint64_t *last,
                                 char group[RECORDING_ID_BYTES + 1], struct error *error) MUST_CHECK;

/* ---- roll-ups ---- */

bool recording_index_add_rollup(struct recording_index *index, const struct stored_rollup *rollup,
                                struct error *error) MUST_CHECK;
bool recording_index_remove_rollup(struct recording_index *index, uint64_t number,
                                   struct error *error) MUST_CHECK;
bool recording_index_get_rollup(struct recording_index *index, uint64_t number, bool *found,
                                struct stored_rollup *rollup, struct error *error) MUST_CHECK;
/* Those of a group that cover only numbers in [from, before): the first by number first, of several the longest;
 * without a group all, by their own number. */
bool recording_index_each_rollup(struct recording_index *index, const char *group, uint64_t from,
                                 uint64_t before,
                                 bool (*take)(void *context, const struct stored_rollup *rollup),
                                 void *context, struct error *error) MUST_CHECK;
/* The highest number that a roll-up of this level covers; 0: there is none. */
bool recording_index_rollup_end(struct recording_index *index, const char *group, unsigned level,
                                uint64_t *last, struct error *error) MUST_CHECK;

#endif
