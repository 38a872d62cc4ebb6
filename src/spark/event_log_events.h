/*
 * event_log_events.h - what one line of an event log means.
 */
#ifndef SPARK_EVENT_LOG_EVENTS_H
#define SPARK_EVENT_LOG_EVENTS_H

#include <stdbool.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/text_view.h"
#include "formats/json_reader.h"
#include "spark/application.h"
#include "spark/event_log_tasks.h"

/* True when the line tells of a task and nothing else is needed to understand it; it is stored with task_event_store()
 * while the line is there. Any thread may do this. Else event_log_read_line() reads the line, whatever it is. */
bool event_log_read_task(struct text_view line, struct json_reader *json, struct task_counters *counters,
                         struct task_event *event) MUST_CHECK;
/* False: bad JSON, or out of memory. */
bool event_log_read_line(struct application *application, struct text_view line,
                         struct error *error) MUST_CHECK;

#endif
