/*
 * advice_rule.h - input and output of an advice rule. Only the rules and advice.c need it.
 */
#ifndef SPARK_ADVICE_RULE_H
#define SPARK_ADVICE_RULE_H

#include "base/attributes.h"
#include "spark/advice/advice_item.h"
#include "spark/advice/code_facts.h"
#include "spark/advice/task_buckets.h"

#define MEBIBYTE 1048576.0

struct advice_case {
    const struct advice_sources *sources;
    const struct application *application;
    struct code_facts code;
    struct task_buckets by_stage, by_executor;
    uint8_t *stage_executors; /* a bit per stage and executor; NULL: there are too many */
    double cpu_share;         /* that tasks got, from cpu_share_of() */
    /* Of the present stage, for rules of stages: */
    const struct stage *stage;
    const struct stage_row *row;
    const struct code_row *code_row;
    /* Of the present item, for rules of the application: */
    size_t number;
};

/* A rule fills the item, whose rule, stage and attempt are set, and returns true if it applies. */
typedef bool advice_rule(const struct advice_case *it, struct advice_item *item);

#define STAGE_RULE(name, function) advice_rule function;
#define APPLICATION_RULE(name, function) advice_rule function;
#include "spark/advice/advice_rules.def"
#undef STAGE_RULE
#undef APPLICATION_RULE

/* True if tasks of that stage (its number) ran on that executor (its number), or nobody knows. */
bool advice_ran_on(const struct advice_case *it, size_t stage, size_t executor);
/* Of all executors while the application ran, at the mean; 0: not known. */
double advice_mean_cores(const struct advice_case *it);
/* Core time of all executors in so much time of the application. */
int64_t advice_core_ms(const struct advice_case *it, int64_t wall_ms);
/* The tasks of the stage would take `factor` of their time. */
void advice_save_share(struct advice_item *item, enum advice_certainty certainty, double factor);
/* The tasks of the stage that take longer would be divided. */
void advice_save_divided(struct advice_item *item, enum advice_certainty certainty, int64_t max_ms);
/* What is known without a simulation; `how` says how. */
void advice_save(const struct advice_case *it, struct advice_item *item, enum advice_certainty certainty,
                 int64_t wall_ms, const char *how);
void advice_save_cores(struct advice_item *item, enum advice_certainty certainty, int64_t core_ms,
                       const char *how);
/* True if Spark plans again while a query runs, as far as the settings say. */
bool advice_is_adaptive(const struct application *application);
/* True if executors are processes of their own. */
bool advice_has_executors(const struct application *application);
/* Both write into fixed buffers, cut where they end. */
void advice_say(struct advice_item *item, const char *format, ...) PRINTF_LIKE(2, 3);
void advice_propose(struct advice_item *item, const char *remedy);

#endif
