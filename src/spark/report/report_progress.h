/*
 * report_progress.h - how far an application is that has not ended.
 */
#ifndef SPARK_REPORT_PROGRESS_H
#define SPARK_REPORT_PROGRESS_H

#include <stdbool.h>

#include "base/output.h"
#include "spark/application.h"

/* True if it began, and its end is not in the log: it runs, or was killed. */
bool report_progress_is_running(const struct application *application);
/* The time of the last event, the jobs that run, and their stages; nothing if the application has ended. */
void report_progress_write_text(const struct application *application, struct output *output);

#endif
