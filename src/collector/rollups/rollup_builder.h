/*
 * rollup_builder.h - finds out which roll-ups are missing (stored_rollup.h), and has them made one after the other,
 * each by a process of its own: it reads what came from outside.
 *
 * The recordings of a minute are summed up while they arrive, and again when the minute is over; five minutes, hours
 * and days when they are over. A sum of fewer than ROLLUP_LEAST_PARTS recordings or smaller roll-ups is not made: a
 * query reads these as fast.
 *
 * Owns: its connection to the index and what it knows of groups, until rollup_builder_free().
 * Threads: one at a time.
 */
#ifndef COLLECTOR_ROLLUP_BUILDER_H
#define COLLECTOR_ROLLUP_BUILDER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "collector/query/child_process.h"

#define ROLLUP_LEAST_PARTS 4

struct rollup_builder_options {
    const char *folder; /* the data directory */
    struct child_limits child;
    uint64_t min_free_bytes; /* with less on the disk, none is made */
    uint64_t last_rollup;    /* the highest number that was given */
    /* Takes a file that is complete among the roll-ups: store_add_rollup(). */
    bool (*add)(void *context, uint64_t number, bool *added, struct error *error);
    void *context;
    void (*log)(void *context, const char *text);
    void *log_context;
};

struct rollup_builder;

struct rollup_counts {
    uint64_t built, failed;
};

/* NULL with *error set. */
struct rollup_builder *rollup_builder_new(const struct rollup_builder_options *options,
                                          struct error *error) MUST_CHECK;
/* NULL is allowed. */
void rollup_builder_free(struct rollup_builder *builder);
/* Makes all that are missing at that time, and of the last minute also if it is not over with `ends_minute`. Returns
 * early when *stops becomes true. */
bool rollup_builder_run(struct rollup_builder *builder, int64_t now_ms, bool ends_minute, atomic_bool *stops,
                        struct error *error) MUST_CHECK;
void rollup_builder_count(const struct rollup_builder *builder, struct rollup_counts *counts);

#endif
