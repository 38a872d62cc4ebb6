/*
 * sql_operators.h - assigns the samples of each stage to operators of SQL plans, as far as generated code allows.
 *
 * The innermost frame of a class GeneratedIteratorForCodegenStageN means that the sample belongs to WholeStageCodegen
 * (N) of the stage's query; the method's name identifies the operator, if it has a separate method.
 *
 * Owns: its lists, until sql_operators_release(). Threads: one at a time.
 */
#ifndef SPARK_SQL_OPERATORS_H
#define SPARK_SQL_OPERATORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/output.h"
#include "spark/application.h"
#include "spark/stages/stage_stacks.h"

struct operator_row {
    uint32_t node; /* number in application.plans; NO_NODE: in no generated code */
    double samples;
};

struct sql_operators_item {
    int64_t stage, attempt;
    uint32_t sql; /* number in application.sqls */
    size_t first_row, row_count;
};

/* A stage whose tasks contributed to a node's counters. */
struct node_stage {
    uint32_t node;
    uint32_t stage; /* number in application.stages */
};

struct sql_operators {
    struct sql_operators_item *items; /* by stage and attempt */
    size_t size, capacity;
    struct operator_row *rows; /* of a stage, the most samples first */
    size_t row_count, row_capacity;
    struct node_stage *node_stages; /* by node and stage, each once */
    size_t node_stage_count;
};

bool sql_operators_init(struct sql_operators *operators, const struct application *application,
                        const struct stage_stacks *stacks, struct error *error) MUST_CHECK;
void sql_operators_release(struct sql_operators *operators);
/* Samples of all stages in this node. */
double sql_operators_samples(const struct sql_operators *operators, uint32_t node);
/* Writes a regular expression that finds the generated methods of a node, as one JSON text; null when no code was
 * generated for it. */
void sql_operators_write_code(const struct application *application, uint32_t node, struct output *output);
/* The node's first place in node_stages; node_stage_count when it has none. */
size_t sql_operators_stages(const struct sql_operators *operators, uint32_t node);
/* As a JSON array; docs/REPORT.md describes it. */
void sql_operators_write_json(const struct sql_operators *operators, const struct application *application,
                              struct output *output);

#endif
