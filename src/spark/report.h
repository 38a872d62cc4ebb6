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
#include "spark/stage_statistics.h"

struct report {
    const struct application *application;
    struct stage_statistics statistics;
    struct advice advice;
};

/* Borrows the application. */
bool report_init(struct report *report, const struct application *application,
                 struct error *error) MUST_CHECK;
void report_release(struct report *report);
/* One object: application, executors, jobs, stages, tasks, sql, errors, advice; docs/REPORT.md describes it. */
void report_write_json(const struct report *report, struct output *output);
void report_write_text(const struct report *report, struct output *output);

#endif
