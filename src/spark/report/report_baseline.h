/*
 * report_baseline.h - the comparison with earlier runs, as text, JSON and JUnit XML.
 */
#ifndef SPARK_REPORT_BASELINE_H
#define SPARK_REPORT_BASELINE_H

#include "base/output.h"
#include "spark/baseline/baseline.h"
#include "spark/report/json_out.h"

/* What changed. */
void report_baseline_write_text(const struct baseline *baseline, struct output *output);
/* The member `baseline`; docs/REPORT.md describes it. */
void report_baseline_write_json(const struct baseline *baseline, struct json_out *out);
/* A test suite: a test case for the application, each query and each stage, and one for each method that is slower;
 * it fails if that is slower. */
void report_baseline_write_junit(const struct baseline *baseline, struct output *output);

#endif
