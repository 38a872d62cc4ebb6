/*
 * report_compare.h - two runs side by side, stage by stage, as text and JSON.
 */
#ifndef SPARK_REPORT_COMPARE_H
#define SPARK_REPORT_COMPARE_H

#include "base/output.h"
#include "spark/report/json_out.h"
#include "spark/report/report.h"

/* Both do nothing without a comparison. */
void report_compare_write_text(const struct report *report, struct output *output);
/* The members `against` and `comparison`; docs/REPORT.md describes them. */
void report_compare_write_json(const struct report *report, struct json_out *out);

#endif
