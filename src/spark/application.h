/*
 * application.h - one Spark application, from its event log: executors, jobs, stages, tasks, SQL executions.
 *
 * Times are milliseconds since 1970; NO_MS if unknown. Texts are numbers of `strings`, 0 is none.
 *
 * Owns: everything, until application_release().
 * Threads: one at a time.
 * Limit: about 350 bytes a task.
 */
#ifndef SPARK_APPLICATION_H
#define SPARK_APPLICATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/id_map.h"
#include "base/string_table.h"
#include "base/text_builder.h"
#include "spark/plan_hash.h"
#include "spark/sql_plans.h"

#define NO_MS INT64_MIN
#define NO_EXECUTOR UINT32_MAX

struct task_metrics {
#define TASK_METRIC(field, key) int64_t field;
#include "spark/task_metrics.def"
};

/* Peaks; 0 if Spark did not measure them. */
struct executor_peaks {
#define EXECUTOR_METRIC(field, key) int64_t field;
#include "spark/executor_metrics.def"
};

struct executor {
    uint32_t id;
    uint32_t host;
    int64_t cores;
    int64_t added_ms;
    int64_t removed_ms;
    uint32_t removed_reason;
    int64_t storage_bytes; /* memory for caching */
    struct executor_peaks peaks;
};

enum job_status {
    JOB_RUNNING,
    JOB_SUCCEEDED,
    JOB_FAILED,
};

struct job {
    int64_t id;
    int64_t submitted_ms;
    int64_t completed_ms;
    enum job_status status;
    uint32_t name;  /* of its last stage */
    uint32_t title; /* set by titles_set() */
    uint32_t description;
    uint32_t group;
    int64_t sql_execution; /* -1: none */
    uint32_t first_stage;  /* in application.job_stages */
    uint32_t stage_count;
    uint32_t exception;
    /* Set by application_finish(), of the stages that ran for it: */
    int64_t task_count; /* those of skipped stages too */
    int64_t skipped;
    uint64_t succeeded, failed, killed, active;
};

enum stage_status {
    STAGE_PENDING,
    STAGE_ACTIVE,
    STAGE_COMPLETE,
    STAGE_FAILED,
    STAGE_SKIPPED,
};

struct stage {
    int64_t id;
    int64_t attempt;
    int64_t job; /* the first that needs it; -1: unknown */
    enum stage_status status;
    uint32_t name;
    uint32_t details; /* call site, line by line */
    uint32_t title;   /* as of a job */
    int64_t task_count;
    int64_t submitted_ms;
    int64_t completed_ms;
    uint32_t failure;
    uint32_t succeeded;
    uint32_t failed;
    uint32_t killed;
    uint32_t active;
    bool uses_python;
    bool has_inputs;      /* they were read */
    int64_t data_set;     /* id of the RDD that it computes; -1: unknown */
    uint32_t first_input; /* in application.stage_inputs: ids of RDDs that its RDDs are computed from */
    uint32_t input_count;
    int64_t python_bytes; /* sent to Python workers of SQL and back */
    struct task_metrics totals;
};

enum task_status {
    TASK_RUNNING,
    TASK_SUCCEEDED,
    TASK_FAILED,
    TASK_KILLED,
};

struct task {
    int64_t id;
    uint32_t stage;    /* number in application.stages */
    uint32_t executor; /* number in application.executors; NO_EXECUTOR: not known */
    uint32_t index;
    uint32_t attempt;
    int32_t partition; /* -1: not said, as before Spark 3.3 */
    uint32_t locality;
    int64_t launch_ms;
    int64_t finish_ms;
    int64_t getting_result_ms; /* 0: none */
    uint8_t status;            /* enum task_status */
    bool speculative;
    bool has_metrics;
    uint32_t reason; /* of a failure, one line */
    uint32_t stack_trace;
    struct task_metrics metrics;
};

struct sql_files {
    int64_t read, read_bytes, written, written_bytes;
};

struct sql_execution {
    int64_t id;
    uint32_t description;
    uint32_t details; /* call site, line by line */
    uint32_t title;   /* as of a job */
    uint32_t plan;
    int64_t start_ms;
    int64_t end_ms;
    uint32_t error;
    struct sql_files files;
    uint32_t first_node; /* of the last plan, in application.plans */
    uint32_t node_count;
    uint32_t updates;              /* times that adaptive execution changed the plan */
    struct plan_hashes first_plan; /* before it did */
};

struct property {
    uint32_t key, value;
};

/* String numbers. */
struct task_texts {
    uint32_t executor, host, locality;
};

struct application {
    struct string_table strings;
    bool shows_secrets;           /* set before reading; else they are hidden (redaction.h) */
    struct text_builder redacted; /* room for that */
    struct task_texts last_texts; /* of the event that was stored last */
    uint32_t id;
    uint32_t name;
    uint32_t user;
    uint32_t attempt;
    uint32_t spark_version;
    uint32_t java_version;
    int64_t start_ms;
    int64_t end_ms;
    struct executor *executors;
    size_t executor_count, executor_capacity;
    struct job *jobs;
    size_t job_count, job_capacity;
    int64_t *job_stages; /* stage ids of all jobs */
    size_t job_stage_count, job_stage_capacity;
    struct stage *stages;
    size_t stage_count, stage_capacity;
    int64_t *stage_inputs; /* RDD ids of all stages */
    size_t stage_input_count, stage_input_capacity;
    struct task *tasks;
    size_t task_count, task_capacity;
    struct sql_execution *sqls;
    size_t sql_count, sql_capacity;
    struct sql_plans plans;
    struct property *properties;
    size_t property_count, property_capacity;
    struct id_map stage_numbers;    /* (id, attempt) */
    struct id_map task_numbers;     /* task id */
    struct id_map executor_numbers; /* string number of the id */
    struct id_map job_numbers;
    struct id_map sql_numbers;
    struct id_map file_counters; /* ids of SQL's counters of files */
};

bool application_init(struct application *application, struct error *error) MUST_CHECK;
void application_release(struct application *application);
/* The key of a stage's attempt in stage_numbers. */
static inline uint64_t application_stage_key(int64_t id, int64_t attempt)
{
    return (uint64_t)id << 20 ^ (uint64_t)attempt;
}
/* Each finds what has this id, or adds it. NULL: out of memory. Pointers are valid until the next is added. */
struct executor *application_executor(struct application *application, uint32_t id) MUST_CHECK;
struct job *application_job(struct application *application, int64_t id) MUST_CHECK;
struct stage *application_stage(struct application *application, int64_t id, int64_t attempt) MUST_CHECK;
struct task *application_task(struct application *application, int64_t id) MUST_CHECK;
struct sql_execution *application_sql(struct application *application, int64_t id) MUST_CHECK;
/* Call at the end: sets which stages were skipped and how many tasks each job had. */
bool application_finish(struct application *application) MUST_CHECK;

/* The last moment that is known of: the end, or the last event of a log that has no end. NO_MS: none. */
int64_t application_last_ms(const struct application *application);
/* spark.task.cpus: cores that a task holds. */
int64_t application_task_cores(const struct application *application);
/* A property's value; empty when it is not set. */
struct text_view application_property(const struct application *application, const char *key);
/* "1g", "512m", "1024": a memory size as Spark's settings have it, in bytes; -1 when it is none. A plain number counts
 * in MiB. */
int64_t memory_setting_bytes(struct text_view text);

void executor_peaks_raise(struct executor_peaks *peaks, const struct executor_peaks *other);
void task_metrics_add(struct task_metrics *sum, const struct task_metrics *metrics);
/* NO_MS when one of them is unknown, or the difference is impossible. */
int64_t span_ms(int64_t start_ms, int64_t end_ms);
/* Milliseconds from launch to end; NO_MS for running ones. */
int64_t task_duration_ms(const struct task *task);

/* String number of the task's executor; 0: not known. */
static inline uint32_t application_executor_id(const struct application *application, const struct task *task)
{
    return task->executor == NO_EXECUTOR ? 0 : application->executors[task->executor].id;
}

static inline struct text_view application_text(const struct application *application, uint32_t string)
{
    return string_table_text(&application->strings, string);
}

#endif
