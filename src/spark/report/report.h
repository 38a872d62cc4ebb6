/*
 * report.h - an application with its analysis, as text and JSON.
 */
#ifndef SPARK_REPORT_H
#define SPARK_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/output.h"
#include "model/profile.h"
#include "spark/advice/advice.h"
#include "spark/application.h"
#include "spark/baseline/baseline.h"
#include "spark/core_timeline.h"
#include "spark/metrics/metric_curves.h"
#include "spark/metrics/metrics.h"
#include "spark/log/spark_log.h"
#include "spark/stages/sql_operators.h"
#include "spark/stages/stage_comparison.h"
#include "spark/stages/stage_methods.h"
#include "spark/stages/stage_statistics.h"
#include "spark/report/cost.h"
#include "spark/report/time_spent.h"
#include "spark/what_if/what_if.h"

/* Parts of the JSON form. */
enum report_section {
    REPORT_APPLICATION = 1, /* with executors */
    REPORT_JOBS = 2,
    REPORT_STAGES = 4,
    REPORT_TASKS = 8,
    REPORT_SQL = 16,
    REPORT_LOGS = 32,
    REPORT_ERRORS = 64,
    REPORT_CHUNKS = 128,
    REPORT_ADVICE = 256,
    REPORT_METRICS = 512, /* with curves */
    REPORT_METHODS = 1024,
    REPORT_ALL = 2047,
};

/* Input of a report; NULL: not available. The application is always set. */
struct report_sources {
    const struct application *application;
    const struct spark_log *log;
    const struct metrics *metrics; /* finished */
    const struct profile *profile;
    const char *const *disabled_rules; /* of advice */
    size_t disabled_rule_count;
    struct cost_prices prices;
    const struct baseline *baseline; /* finished; NULL: there are no earlier runs */
};

struct report {
    const struct application *application;
    const struct spark_log *log;
    const struct metrics *metrics;
    const struct profile *profile;
    struct stage_statistics statistics;
    struct core_timeline cores;
    struct metric_curves curves;
    struct time_spent time_spent;
    struct what_if what_if;
    struct cost cost;
    struct stage_methods methods;
    struct sql_operators operators;
    struct advice advice;
    uint64_t refresh_seconds;        /* the page reads itself again after; 0: never */
    const struct baseline *baseline; /* NULL: none */
    const struct report *against;    /* the run that this one is compared with; NULL: none */
    struct stage_comparison comparison;
};

/* Borrows the sources. */
bool report_init(struct report *report, const struct report_sources *sources, struct error *error) MUST_CHECK;
void report_release(struct report *report);
/* Compares with another run, which must live as long; text, JSON and page then show both. */
bool report_compare(struct report *report, const struct report *against, struct error *error) MUST_CHECK;
/* One object: application, executors, jobs, stages, tasks, sql, logs, errors, chunks, metrics, curves, methods,
 * advice, as far as they are among the `sections` (enum report_section); docs/REPORT.md describes it. */
void report_write_json(const struct report *report, unsigned sections, struct output *output);
/* The same for the page: JSON, a zero byte, the columns of tasks (task_columns.h). */
void report_write_page_data(const struct report *report, struct output *output);
void report_write_text(const struct report *report, struct output *output);

#endif
