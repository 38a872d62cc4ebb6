/*
 * report.h - an application with what was worked out of it, and its text and JSON forms.
 */
#ifndef SPARK_REPORT_H
#define SPARK_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/output.h"
#include "model/profile.h"
#include "spark/advice.h"
#include "spark/application.h"
#include "spark/metric_curves.h"
#include "spark/metrics.h"
#include "spark/spark_log.h"
#include "spark/sql_operators.h"
#include "spark/stage_comparison.h"
#include "spark/stage_methods.h"
#include "spark/stage_statistics.h"
#include "spark/time_spent.h"

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

/* What is known of an application; NULL: nothing of that kind, but the application is always there. */
struct report_sources {
    const struct application *application;
    const struct spark_log *log;
    const struct metrics *metrics; /* finished */
    const struct profile *profile;
};

struct report {
    const struct application *application;
    const struct spark_log *log;
    const struct metrics *metrics;
    const struct profile *profile;
    struct stage_statistics statistics;
    struct metric_curves curves;
    struct time_spent time_spent;
    struct stage_methods methods;
    struct sql_operators operators;
    struct advice advice;
    const struct report *against; /* the run that this one is compared with; NULL: none */
    struct stage_comparison comparison;
};

/* Borrows the sources. */
bool report_init(struct report *report, const struct report_sources *sources, struct error *error) MUST_CHECK;
void report_release(struct report *report);
/* Compares with another run, which must live as long; text, JSON and page then show both. */
bool report_compare(struct report *report, const struct report *against, struct error *error) MUST_CHECK;
/* One object: application, executors, jobs, stages, tasks, sql, logs, errors, chunks, metrics, curves, methods, advice, as far as they are
 * among the `sections` (enum report_section); docs/REPORT.md describes it. */
void report_write_json(const struct report *report, unsigned sections, struct output *output);
/* The same for the page: tasks as columns, so that a million of them are read at once. */
void report_write_page_data(const struct report *report, struct output *output);
void report_write_text(const struct report *report, struct output *output);

#endif
