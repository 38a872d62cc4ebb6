/*
 * spark_rest.h - parses answers of a driver's or history server's REST interface on where an application runs.
 *
 * Owns: all texts, in its arena, until spark_rest_release().
 * Threads: one at a time.
 * Limit: SPARK_REST_LIMIT items.
 */
#ifndef PROCESSES_SPARK_REST_H
#define PROCESSES_SPARK_REST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"

enum { SPARK_REST_LIMIT = 100000 };

struct spark_application {
    const char *id, *name, *user;
    bool completed;
};

struct spark_executor {
    const char *application;
    const char *id;   /* "driver", "1" */
    const char *host; /* host:port */
    bool is_active;
    uint64_t cores, active_tasks, completed_tasks, failed_tasks;
};

struct spark_rest {
    struct arena arena;
    struct spark_application *applications;
    size_t application_count, application_capacity;
    struct spark_executor *executors;
    size_t executor_count, executor_capacity;
};

void spark_rest_init(struct spark_rest *rest);
void spark_rest_release(struct spark_rest *rest);
/* The answer to GET /api/v1/applications. */
bool spark_rest_add_applications(struct spark_rest *rest, struct text_view json,
                                 struct error *error) MUST_CHECK;
/* The answer to GET /api/v1/applications/ID/allexecutors or …/executors. */
bool spark_rest_add_executors(struct spark_rest *rest, const char *application, struct text_view json,
                              struct error *error) MUST_CHECK;

#endif
