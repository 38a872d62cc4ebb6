/*
 * advice.h - what a person who knows Spark would say about an application, with the figures that make them say it.
 *
 * Owns: its items, until advice_release().
 */
#ifndef SPARK_ADVICE_H
#define SPARK_ADVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "spark/application.h"
#include "spark/stage_statistics.h"

struct advice_item {
    const char *rule; /* "skew" */
    int64_t stage;    /* -1: the whole application */
    int64_t attempt;
    double severity;   /* seconds of task or wall time at stake; larger comes first */
    char finding[300]; /* what was seen */
    char remedy[300];  /* what to do */
};

struct advice {
    struct advice_item *items;
    size_t size;
    size_t capacity;
};

bool advice_init(struct advice *advice, const struct application *application,
                 const struct stage_statistics *statistics, struct error *error) MUST_CHECK;
void advice_release(struct advice *advice);

#endif
