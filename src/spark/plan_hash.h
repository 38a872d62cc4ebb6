/*
 * plan_hash.h - equal numbers for texts of two runs that mean the same: operators of plans, titles, methods.
 *
 * What Spark counts anew in each run is left out: ids of expressions (k#1L), of plans (plan_id=12), of objects (@1a2b)
 * and of lambdas, and paths. A loose hash leaves out all digits, too: dates, lines of code.
 *
 * Owns: nothing.
 */
#ifndef SPARK_PLAN_HASH_H
#define SPARK_PLAN_HASH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/string_table.h"
#include "base/text_view.h"
#include "spark/sql_plans.h"

struct plan_hashes {
    uint64_t exact, loose;
};

/* 0 for plans without operators. */
struct plan_hashes plan_hash_nodes(const struct sql_plans *plans, const struct string_table *strings,
                                   uint32_t first, uint32_t count);
uint64_t plan_hash_text(struct text_view text, bool is_loose);

#endif
