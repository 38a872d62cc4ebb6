/*
 * event_log_details.h - parts of events that are lists or objects with keys of any name: properties, data sets,
 * counters, plans. Each function fits struct json_field's `read`; the fields' context is a struct event_reader.
 */
#ifndef SPARK_EVENT_LOG_DETAILS_H
#define SPARK_EVENT_LOG_DETAILS_H

#include <stdbool.h>

#include "base/attributes.h"
#include "spark/application.h"
#include "spark/event_log/json_fields.h"

struct event_reader {
    struct application *application;
    struct json_fields_reader fields;
};

/* "Spark Properties" to the application's; the place does not matter. */
bool event_log_read_properties(struct json_fields_reader *fields, enum json_token first,
                               void *place) MUST_CHECK;
/* What a stage computes. Its inputs are the last of application.stage_inputs. */
struct stage_data_sets {
    bool uses_python; /* one of them runs Python */
    int64_t first;    /* id of the RDD that comes first: the stage's result */
    uint32_t count, input_count;
};

/* "RDD Info", to struct stage_data_sets. */
bool event_log_read_data_sets(struct json_fields_reader *fields, enum json_token first,
                              void *place) MUST_CHECK;
/* "Accumulables" of a stage: final values of SQL's counters; adds to the int64_t the bytes sent to Python workers and
 * back. */
bool event_log_read_counters(struct json_fields_reader *fields, enum json_token first,
                             void *place) MUST_CHECK;
/* "Task Executor Metrics": raises struct executor_peaks. */
bool event_log_read_peaks(struct json_fields_reader *fields, enum json_token first, void *place) MUST_CHECK;
/* Nodes of application.plans. */
struct plan_range {
    uint32_t first, count;
};

/* "sparkPlanInfo": adds its operators, sets the struct plan_range, and remembers the counters of files. */
bool event_log_read_plan(struct json_fields_reader *fields, enum json_token first, void *place) MUST_CHECK;
/* "sqlPlanMetrics": adds counters; the struct plan_range is where in application.plans.counters. */
bool event_log_read_plan_counters(struct json_fields_reader *fields, enum json_token first,
                                  void *place) MUST_CHECK;
/* "accumUpdates": raises struct sql_files. */
bool event_log_read_driver_counters(struct json_fields_reader *fields, enum json_token first,
                                    void *place) MUST_CHECK;

#endif
