/*
 * stage_stacks.h - the stacks of each stage, with counts.
 *
 * Owns: its list, until stage_stacks_release(). Borrows the profile.
 * Threads: one at a time.
 */
#ifndef SPARK_STAGE_STACKS_H
#define SPARK_STAGE_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "model/profile.h"

struct stage_stack {
    int64_t stage;
    int64_t attempt;
    uint32_t stack;
    double count;
};

struct stage_stacks {
    const struct profile *profile;
    uint32_t event;            /* "cpu" when there is one, else the one with the most samples */
    struct stage_stack *items; /* by stage, attempt and stack, each once */
    size_t size;
};

/* `profile` NULL: nothing is known. Samples without a stage are skipped. */
bool stage_stacks_init(struct stage_stacks *stacks, const struct profile *profile,
                       struct error *error) MUST_CHECK;
void stage_stacks_release(struct stage_stacks *stacks);
/* The first item after `from` that is of another stage. */
size_t stage_stacks_end(const struct stage_stacks *stacks, size_t from);

#endif
