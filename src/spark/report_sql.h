/*
 * report_sql.h - the report's part about SQL queries: plans with what their operators counted.
 */
#ifndef SPARK_REPORT_SQL_H
#define SPARK_REPORT_SQL_H

#include "base/output.h"
#include "spark/json_out.h"
#include "spark/report.h"

void report_sql_write_text(const struct report *report, struct output *output);
/* The member "sql". */
void report_sql_write_json(const struct report *report, struct json_out *out);

#endif
