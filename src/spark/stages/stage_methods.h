/*
 * stage_methods.h - the top methods of each stage.
 *
 * Owns: its lists, until stage_methods_release(). Borrows the profile.
 * Threads: one at a time.
 */
#ifndef SPARK_STAGE_METHODS_H
#define SPARK_STAGE_METHODS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/output.h"
#include "model/profile.h"
#include "spark/stages/stage_stacks.h"

#define STAGE_METHODS_MOST 10

struct method_row {
    uint32_t name; /* string number of the profile */
    double self;   /* was the innermost */
    double total;  /* was on the stack */
};

struct stage_methods_item {
    int64_t stage;
    int64_t attempt;
    double samples;
    struct method_row rows[STAGE_METHODS_MOST]; /* the most own samples first */
    size_t row_count;
};

struct stage_methods {
    const struct profile *profile;
    uint32_t event;                   /* of stage_stacks */
    struct stage_methods_item *items; /* by stage and attempt */
    size_t size, capacity;
};

/* Borrows the stacks' profile only. */
bool stage_methods_init(struct stage_methods *methods, const struct stage_stacks *stacks,
                        struct error *error) MUST_CHECK;
void stage_methods_release(struct stage_methods *methods);
/* NULL: no sample was taken in that stage. */
const struct stage_methods_item *stage_methods_find(const struct stage_methods *methods, int64_t stage,
                                                    int64_t attempt);
/* As a JSON array; docs/REPORT.md describes it. */
void stage_methods_write_json(const struct stage_methods *methods, struct output *output);

#endif
