/*
 * report_what_if.h - the what-if part of a report.
 */
#ifndef SPARK_REPORT_WHAT_IF_H
#define SPARK_REPORT_WHAT_IF_H

#include "base/output.h"
#include "spark/report/json_out.h"
#include "spark/what_if/what_if.h"

/* The member "what_if"; nothing if executors or tasks are not known. */
void report_what_if_write_json(const struct what_if *what_if, struct json_out *out);
void report_what_if_write_text(const struct what_if *what_if, struct output *output);

#endif
