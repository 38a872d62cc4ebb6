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
#include "spark/advice.h"
#include "spark/application.h"
#include "spark/spark_log.h"
#include "spark/stage_statistics.h"

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
    REPORT_ALL = 511,
};

struct report {
    const struct application *application;
    const struct spark_log *log; /* NULL: none */
    struct stage_statistics statistics;
    struct advice advice;
};

/* Borrows application and log. */
bool report_init(struct report *report, const struct application *application, const struct spark_log *log,
                 struct error *error) MUST_CHECK;
void report_release(struct report *report);
/* One object: application, executors, jobs, stages, tasks, sql, logs, errors, chunks, advice, as far as they are
 * among the `sections` (enum report_section); docs/REPORT.md describes it. */
void report_write_json(const struct report *report, unsigned sections, struct output *output);
/* The same for the page: tasks as columns, so that a million of them are read at once. */
void report_write_page_data(const struct report *report, struct output *output);
void report_write_text(const struct report *report, struct output *output);

#endif
