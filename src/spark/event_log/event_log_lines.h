/*
 * event_log_lines.h - the lines of an event log: several threads parse events of tasks, one thread stores all in
 * order.
 *
 * Owns: nothing. Threads: one at a time; starts others itself.
 */
#ifndef SPARK_EVENT_LOG_LINES_H
#define SPARK_EVENT_LOG_LINES_H

#include <stdbool.h>

#include "base/attributes.h"
#include "base/error.h"
#include "input/byte_source.h"
#include "spark/application.h"
#include "spark/event_log/event_log_options.h"

/* The last line of a running or killed application may be cut; that is not an error, but noted in *counts. */
bool event_log_read_lines(struct byte_source *source, const struct event_log_options *options,
                          struct application *application, struct event_log_counts *counts,
                          struct error *error) MUST_CHECK;

#endif
