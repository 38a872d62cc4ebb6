/*
 * run_summary.h - what is compared of a run: the application, its queries, their stages, and the stages' methods, each
 * with its measures and with keys by which it is found in another run.
 *
 * Queries are known by the hash of the plan that they began with, their stages by the operators that they counted for;
 * other stages by their name, which includes the line of code; methods by their name.
 *
 * Owns: everything, until run_summary_release(); borrows nothing once it is made.
 * Threads: one at a time.
 */
#ifndef SPARK_RUN_SUMMARY_H
#define SPARK_RUN_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/string_table.h"
#include "model/profile.h"
#include "spark/application.h"

#define NO_RUN_ITEM UINT32_MAX
#define RUN_KEYS 3

enum run_item_kind {
    RUN_APPLICATION,
    RUN_QUERY,
    RUN_STAGE,
    RUN_METHOD,
    RUN_KINDS,
};

enum run_measure {
    RUN_WALL,  /* milliseconds from start to end */
    RUN_CORE,  /* milliseconds of tasks; of a method, its estimated part of them */
    RUN_BYTES, /* read and shuffled */
    RUN_ROWS,  /* read and shuffled */
    RUN_MEASURES,
};

struct run_item {
    enum run_item_kind kind;
    uint32_t parent;             /* in run_summary.items: method, stage, query or application, application */
    int64_t id, attempt;         /* of a query or stage */
    uint32_t name;               /* in run_summary.strings */
    uint64_t keys[RUN_KEYS];     /* the most exact first */
    double values[RUN_MEASURES]; /* below 0: not known */
    double samples;              /* that a method's value is made from; 0: it was measured */
};

struct run_summary {
    struct string_table strings;
    uint32_t id, name; /* of the application */
    int64_t start_ms;
    struct run_item *items; /* by kind */
    size_t size, capacity;
    size_t first[RUN_KINDS + 1]; /* of each kind */
};

/* `profile` may be NULL. */
bool run_summary_init(struct run_summary *summary, const struct application *application,
                      const struct profile *profile, struct error *error) MUST_CHECK;
void run_summary_release(struct run_summary *summary);

static inline struct text_view run_summary_text(const struct run_summary *summary, uint32_t string)
{
    return string_table_text(&summary->strings, string);
}

#endif
