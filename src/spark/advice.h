/*
 * advice.h - what a person who knows Spark would say about an application, with the figures that make them say it.
 * advice_rules.def lists the rules.
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
#include "model/profile.h"
#include "spark/application.h"
#include "spark/metrics.h"
#include "spark/spark_log.h"
#include "spark/stage_statistics.h"

struct advice_item {
    const char *rule; /* "skew" */
    int64_t stage;    /* -1: the whole application */
    int64_t attempt;
    int64_t task;      /* its id; -1: none in particular */
    double severity;   /* seconds of task or wall time at stake; larger comes first */
    char place[200];   /* line of code or of a log; empty: none */
    char finding[400]; /* what was seen */
    char remedy[300];  /* what to do */
};

struct advice {
    struct advice_item *items;
    size_t size;
    size_t capacity;
};

/* What there is to judge by; NULL: nothing of that kind, but application and statistics are always there. */
struct advice_sources {
    const struct application *application;
    const struct stage_statistics *statistics;
    const struct spark_log *log;   /* finished */
    const struct metrics *metrics; /* finished */
    const struct profile *profile;
};

/* Borrows the sources only while it runs. */
bool advice_init(struct advice *advice, const struct advice_sources *sources, struct error *error) MUST_CHECK;
void advice_release(struct advice *advice);

#endif
