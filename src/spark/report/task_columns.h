/*
 * task_columns.h - tasks for the page of a report: numbers column by column, so that a million of them are read
 * quickly.
 *
 * A column is one varint per task: the distance from the task before (from 0 for the first), as 0, 1, 2, 3 for
 * 0, -1, 1, -2. docs/PAGE_DATA.md describes it.
 */
#ifndef SPARK_REPORT_TASK_COLUMNS_H
#define SPARK_REPORT_TASK_COLUMNS_H

#include "base/output.h"
#include "spark/application.h"
#include "spark/report/json_out.h"

/* "tasks": how many there are, and the names of the columns in their order. */
void task_columns_write_json(const struct application *application, struct json_out *out);
/* The columns. Numbers beyond 2^51 are written as 2^51, which the page can read exactly. */
void task_columns_write(const struct application *application, struct output *output);

#endif
