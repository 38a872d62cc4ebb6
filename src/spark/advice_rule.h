/*
 * advice_rule.h - what a rule of advice gets and gives. Only the rules and advice.c need it.
 */
#ifndef SPARK_ADVICE_RULE_H
#define SPARK_ADVICE_RULE_H

#include "spark/advice.h"
#include "spark/code_facts.h"

#define MEBIBYTE 1048576.0

struct advice_case {
    const struct advice_sources *sources;
    const struct application *application;
    struct code_facts code;
    /* Of the present stage, for rules of stages: */
    const struct stage *stage;
    const struct stage_row *row;
    const struct code_row *code_row;
    /* Of the present item, for rules of the application: */
    size_t number;
};

/* A rule fills the item, whose rule, stage and attempt are set, and returns true when it has something to say. */
typedef bool advice_rule(const struct advice_case *it, struct advice_item *item);

#define STAGE_RULE(name, function) advice_rule function;
#define APPLICATION_RULE(name, function) advice_rule function;
#include "spark/advice_rules.def"
#undef STAGE_RULE
#undef APPLICATION_RULE

/* Both write into fixed buffers, cut where they end. */
void advice_say(struct advice_item *item, const char *format, ...) PRINTF_LIKE(2, 3);
void advice_propose(struct advice_item *item, const char *remedy);

#endif
