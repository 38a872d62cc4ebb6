/*
 * stage_comparison.h - matches the stages of two runs: by name, which includes the call site, and by order among
 * those of one name; if line numbers changed, by the name without them.
 *
 * Owns: its pairs, until stage_comparison_release(). Borrows the applications.
 * Threads: one at a time.
 */
#ifndef SPARK_STAGE_COMPARISON_H
#define SPARK_STAGE_COMPARISON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "spark/application.h"

#define NO_STAGE UINT32_MAX

struct stage_pair {
    uint32_t before; /* number in the other run's stages; NO_STAGE: only this run has it */
    uint32_t after;  /* number in this run's stages; NO_STAGE: only the other has it */
};

struct stage_comparison {
    struct stage_pair *
        pairs; /* in this run's order; then what only the other run has. Stages that did not run are left out */
    size_t size;
};

bool stage_comparison_init(struct stage_comparison *comparison, const struct application *before,
                           const struct application *after, struct error *error) MUST_CHECK;
void stage_comparison_release(struct stage_comparison *comparison);

#endif
