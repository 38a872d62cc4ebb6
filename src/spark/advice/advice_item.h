/*
 * advice_item.h - one piece of advice, and what advice is derived from.
 *
 * Owns: nothing.
 */
#ifndef SPARK_ADVICE_ITEM_H
#define SPARK_ADVICE_ITEM_H

#include <stdint.h>

#include "model/profile.h"
#include "spark/application.h"
#include "spark/core_timeline.h"
#include "spark/metrics/metrics.h"
#include "spark/log/spark_log.h"
#include "spark/stages/stage_statistics.h"
#include "spark/what_if/what_if.h"

enum advice_certainty {
    CERTAINTY_LOW,    /* the remedy may not help, or save much less */
    CERTAINTY_MEDIUM, /* it helps; how much is estimated */
    CERTAINTY_HIGH,   /* measured */
};

struct advice_item {
    const char *rule; /* "skew" */
    int64_t stage;    /* -1: the whole application */
    int64_t attempt;
    int64_t task; /* its id; -1: none in particular */
    int64_t sql;  /* query; -1: none in particular */
    enum advice_certainty certainty;
    int64_t saved_wall_ms; /* by which the application would end earlier */
    int64_t saved_core_ms; /* of the executors, all together */
    double factor;         /* of the tasks' durations that is left when the cause is gone; 1: not known */
    int64_t max_ms;        /* longer tasks would be divided; 0: none */
    uint32_t group;        /* index of the first item with the same rule and cause; of a first one, its own */
    double severity;       /* seconds of the whole application that are at stake; larger comes first */
    char how[160];         /* how the saving was computed */
    char place[200];       /* location in code or in a log; empty: none */
    char finding[400];     /* what was seen */
    char remedy[300];      /* what to do */
};

/* Input of the rules; NULL: not available. Application, statistics, cores and what_if are always set. */
struct advice_sources {
    const struct application *application;
    const struct stage_statistics *statistics;
    const struct core_timeline *cores;
    struct what_if *what_if;
    const struct spark_log *log;   /* finished */
    const struct metrics *metrics; /* finished */
    const struct profile *profile;
    const char *const *disabled; /* names of rules that are not asked */
    size_t disabled_count;
};

#endif
