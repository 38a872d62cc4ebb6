/*
 * event_log_events.h - what one line of an event log means.
 */
#ifndef SPARK_EVENT_LOG_EVENTS_H
#define SPARK_EVENT_LOG_EVENTS_H

#include <stdbool.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/text_view.h"
#include "input/json_reader.h"
#include "spark/application.h"
#include "spark/event_log/event_log_tasks.h"

/* True when the line, which may be cut, begins like an event of Spark. */
bool event_log_is_event(struct text_view line);
/* True if the line is about a task and can be understood without other lines; it is stored with task_event_store()
 * while the line is there. Any thread may do this. Else event_log_read_line() reads the line, whatever it is. */
bool event_log_read_task(struct text_view line, struct json_reader *json, struct task_counters *counters,
                         struct task_event *event) MUST_CHECK;
/* False: bad JSON, or out of memory. */
bool event_log_read_line(struct application *application, struct text_view line,
                         struct error *error) MUST_CHECK;

#endif
