/*
 * log_report.h - the logs of an application as text and JSON.
 */
#ifndef SPARK_LOG_REPORT_H
#define SPARK_LOG_REPORT_H

#include <stddef.h>

#include "base/output.h"
#include "spark/report/json_out.h"
#include "spark/log/spark_log.h"

/* The members logs, errors and chunks, as far as they are among the sections (enum report_section). */
void log_report_write_json(const struct spark_log *log, unsigned sections, struct json_out *out);
void log_report_write_summary(const struct spark_log *log, struct output *output);
/* At most `most` each. */
void log_report_write_errors(const struct spark_log *log, size_t most, struct output *output);
void log_report_write_chunks(const struct spark_log *log, size_t most, struct output *output);
void log_report_write_jobs(const struct spark_log *log, struct output *output);
void log_report_write_stages(const struct spark_log *log, struct output *output);
void log_report_write_tasks(const struct spark_log *log, struct output *output);

#endif
