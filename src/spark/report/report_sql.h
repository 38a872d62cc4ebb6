/*
 * report_sql.h - SQL queries in the report: plans with the counters of their operators.
 */
#ifndef SPARK_REPORT_SQL_H
#define SPARK_REPORT_SQL_H

#include "base/output.h"
#include "spark/report/json_out.h"
#include "spark/report/report.h"

void report_sql_write_text(const struct report *report, struct output *output);
/* The member "sql". */
void report_sql_write_json(const struct report *report, struct json_out *out);

#endif
