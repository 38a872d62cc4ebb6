/*
 * advice.h - what a person who knows Spark would say about an application, with the figures that make them say it.
 * advice_rules.def lists the rules.
 *
 * Each finding has what it would save, in time of the whole application and in core time: for findings on a stage, the
 * run is simulated without the cause (what_if.h).
 *
 * Owns: its items, until advice_release().
 */
#ifndef SPARK_ADVICE_H
#define SPARK_ADVICE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/attributes.h"
#include "base/error.h"
#include "spark/advice/advice_item.h"

struct advice {
    struct advice_item *items; /* the largest savings first */
    size_t size;
    size_t capacity;
};

/* Borrows the sources only while it runs. */
bool advice_init(struct advice *advice, const struct advice_sources *sources, struct error *error) MUST_CHECK;
void advice_release(struct advice *advice);
/* "high" */
const char *advice_certainty_name(enum advice_certainty certainty);
bool advice_has_rule(const char *name);
/* All names, separated by blanks. */
const char *advice_rule_names(void);

#endif
