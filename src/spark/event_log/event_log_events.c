/*
 * event_log_events.c - what each event of an event log means. One line is one JSON object; its key "Event" comes first.
 */
#include "spark/event_log/event_log_events.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "spark/event_log/event_log_details.h"
#include "spark/event_log/event_log_tasks.h"
#include "spark/event_log/json_fields.h"

#define TEXT_LIMIT_BYTES ((size_t)256 << 20)
#define NO_INTEGER INT64_MIN

#define AT(type, field) offsetof(struct type, field)

/* ---- pieces that several events have ---- */

struct stage_info {
    int64_t id, attempt, task_count, submitted_ms, completed_ms;
    uint32_t name, details, failure;
    struct stage_data_sets data_sets;
    int64_t python_bytes;
};

static const struct json_field stage_info_fields[] = {
    {FIELD_KEY("Stage ID"), FIELD_INTEGER, AT(stage_info, id)},
    {FIELD_KEY("Stage Attempt ID"), FIELD_INTEGER, AT(stage_info, attempt)},
    {FIELD_KEY("Stage Name"), FIELD_TEXT, AT(stage_info, name)},
    {FIELD_KEY("Number of Tasks"), FIELD_INTEGER, AT(stage_info, task_count)},
    {FIELD_KEY("Details"), FIELD_TEXT, AT(stage_info, details)},
    {FIELD_KEY("Submission Time"), FIELD_INTEGER, AT(stage_info, submitted_ms)},
    {FIELD_KEY("Completion Time"), FIELD_INTEGER, AT(stage_info, completed_ms)},
    {FIELD_KEY("Failure Reason"), FIELD_TEXT, AT(stage_info, failure)},
    {FIELD_KEY("RDD Info"), FIELD_OTHER, AT(stage_info, data_sets), NULL, event_log_read_data_sets},
    {FIELD_KEY("Accumulables"), FIELD_OTHER, AT(stage_info, python_bytes), NULL, event_log_read_counters},
    {{NULL, 0}},
};

static const struct stage_info no_stage_info = {.submitted_ms = NO_MS, .completed_ms = NO_MS};

/* Every event of a stage repeats them. */
static void keep_inputs(struct application *application, struct stage *stage,
                        const struct stage_data_sets *sets)
{
    if (stage->has_inputs || sets->count == 0) {
        application->stage_input_count -= sets->input_count;
        return;
    }
    stage->has_inputs = true;
    stage->data_set = sets->first;
    stage->input_count = sets->input_count;
    stage->first_input = (uint32_t)(application->stage_input_count - sets->input_count);
}

static struct stage *store_stage(struct application *application, const struct stage_info *info)
{
    struct stage *stage = application_stage(application, info->id, info->attempt);
    if (stage == NULL)
        return NULL;
    stage->name = info->name;
    stage->details = info->details;
    stage->task_count = info->task_count;
    if (info->submitted_ms != NO_MS)
        stage->submitted_ms = info->submitted_ms;
    if (info->completed_ms != NO_MS)
        stage->completed_ms = info->completed_ms;
    if (info->failure != 0)
        stage->failure = info->failure;
    stage->uses_python = stage->uses_python || info->data_sets.uses_python;
    keep_inputs(application, stage, &info->data_sets);
    stage->python_bytes = info->python_bytes;
    sql_plans_claim(&application->plans, (uint32_t)(stage - application->stages));
    return stage;
}

static bool read_object(struct event_reader *reader, const struct json_field *fields, void *target)
{
    return json_fields_read(&reader->fields, fields, target);
}

/* ---- the application and its executors ---- */

static bool read_log_start(struct event_reader *reader)
{
    static const struct json_field fields[] = {
        {FIELD_KEY("Spark Version"), FIELD_TEXT, AT(application, spark_version)},
        {{NULL, 0}},
    };
    return read_object(reader, fields, reader->application);
}

static bool read_application_start(struct event_reader *reader)
{
    static const struct json_field fields[] = {
        {FIELD_KEY("App Name"), FIELD_TEXT, AT(application, name)},
        {FIELD_KEY("App ID"), FIELD_TEXT, AT(application, id)},
        {FIELD_KEY("Timestamp"), FIELD_INTEGER, AT(application, start_ms)},
        {FIELD_KEY("User"), FIELD_TEXT, AT(application, user)},
        {FIELD_KEY("App Attempt ID"), FIELD_TEXT, AT(application, attempt)},
        {{NULL, 0}},
    };
    return read_object(reader, fields, reader->application);
}

static bool read_application_end(struct event_reader *reader)
{
    static const struct json_field fields[] = {
        {FIELD_KEY("Timestamp"), FIELD_INTEGER, AT(application, end_ms)},
        {{NULL, 0}},
    };
    return read_object(reader, fields, reader->application);
}

static bool read_environment(struct event_reader *reader)
{
    static const struct json_field jvm_fields[] = {
        {FIELD_KEY("Java Version"), FIELD_TEXT, AT(application, java_version)},
        {{NULL, 0}},
    };
    static const struct json_field fields[] = {
        {FIELD_KEY("JVM Information"), FIELD_OBJECT, 0, jvm_fields},
        {FIELD_KEY("Spark Properties"), FIELD_OTHER, 0, NULL, event_log_read_properties},
        {{NULL, 0}},
    };
    return read_object(reader, fields, reader->application);
}

struct executor_event {
    uint32_t id, host, reason;
    int64_t time_ms, cores, memory_bytes;
};

static const struct json_field executor_info_fields[] = {
    {FIELD_KEY("Host"), FIELD_TEXT, AT(executor_event, host)},
    {FIELD_KEY("Total Cores"), FIELD_INTEGER, AT(executor_event, cores)},
    {{NULL, 0}},
};

static const struct json_field block_manager_fields[] = {
    {FIELD_KEY("Executor ID"), FIELD_TEXT, AT(executor_event, id)},
    {FIELD_KEY("Host"), FIELD_TEXT, AT(executor_event, host)},
    {{NULL, 0}},
};

static const struct json_field executor_fields[] = {
    {FIELD_KEY("Timestamp"), FIELD_INTEGER, AT(executor_event, time_ms)},
    {FIELD_KEY("Executor ID"), FIELD_TEXT, AT(executor_event, id)},
    {FIELD_KEY("Executor Info"), FIELD_OBJECT, 0, executor_info_fields},
    {FIELD_KEY("Removed Reason"), FIELD_TEXT, AT(executor_event, reason)},
    {FIELD_KEY("Block Manager ID"), FIELD_OBJECT, 0, block_manager_fields},
    {FIELD_KEY("Maximum Memory"), FIELD_INTEGER, AT(executor_event, memory_bytes)},
    {{NULL, 0}},
};

static bool out_of_memory(struct event_reader *reader)
{
    return error_set_memory(reader->fields.error);
}

static bool read_executor_event(struct event_reader *reader, struct executor_event *event,
                                struct executor **executor)
{
    *event = (struct executor_event){.time_ms = NO_MS};
    if (!read_object(reader, executor_fields, event))
        return false;
    *executor = application_executor(reader->application, event->id);
    return *executor != NULL || out_of_memory(reader);
}

static bool read_executor_added(struct event_reader *reader)
{
    struct executor_event event;
    struct executor *executor;
    if (!read_executor_event(reader, &event, &executor))
        return false;
    executor->host = event.host;
    executor->cores = event.cores;
    executor->added_ms = event.time_ms;
    return true;
}

static bool read_executor_removed(struct event_reader *reader)
{
    struct executor_event event;
    struct executor *executor;
    if (!read_executor_event(reader, &event, &executor))
        return false;
    executor->removed_ms = event.time_ms;
    executor->removed_reason = event.reason;
    return true;
}

/* The driver appears only through its block manager. */
static bool read_block_manager_added(struct event_reader *reader)
{
    struct executor_event event;
    struct executor *executor;
    if (!read_executor_event(reader, &event, &executor))
        return false;
    executor->storage_bytes = event.memory_bytes;
    if (executor->host == 0)
        executor->host = event.host;
    if (executor->added_ms == NO_MS)
        executor->added_ms = event.time_ms;
    return true;
}

static bool read_stage_executor_metrics(struct event_reader *reader)
{
    struct peaks_event {
        uint32_t id;
        struct executor_peaks peaks;
    } event = {.id = 0};
    static const struct json_field fields[] = {
        {FIELD_KEY("Executor ID"), FIELD_TEXT, AT(peaks_event, id)},
        {FIELD_KEY("Executor Metrics"), FIELD_OTHER, AT(peaks_event, peaks), NULL, event_log_read_peaks},
        {{NULL, 0}},
    };
    if (!read_object(reader, fields, &event))
        return false;
    struct executor *executor = application_executor(reader->application, event.id);
    if (executor == NULL)
        return out_of_memory(reader);
    executor_peaks_raise(&executor->peaks, &event.peaks);
    return true;
}

/* ---- jobs ---- */

struct job_event {
    int64_t id, submitted_ms, completed_ms, sql_execution;
    uint32_t description, group, result, exception;
    uint32_t first_stage, stage_count;
    uint32_t name;
    int64_t last_stage;
};

/* The reader's own context is the event_reader. */
static bool read_stage_ids(struct json_fields_reader *fields, enum json_token first, void *place)
{
    struct application *application = ((struct event_reader *)fields->context)->application;
    struct job_event *event = place;
    if (first != JSON_ARRAY_BEGIN)
        return json_reader_skip(fields->json, first, fields->error);
    event->first_stage = (uint32_t)application->job_stage_count;
    for (;;) {
        enum json_token token = json_reader_next(fields->json, fields->error);
        if (token == JSON_ARRAY_END)
            return true;
        if (token == JSON_FAILED)
            return false;
        if (token != JSON_NUMBER) {
            if (!json_reader_skip(fields->json, token, fields->error))
                return false;
            continue;
        }
        if (!array_reserve(&application->job_stages, &application->job_stage_capacity,
                           application->job_stage_count + 1, UINT32_MAX))
            return error_set_memory(fields->error);
        application->job_stages[application->job_stage_count++] = fields->json->integer;
        event->stage_count++;
    }
}

/* The stage with the highest number gives the job its name. */
static bool read_stage_infos(struct json_fields_reader *fields, enum json_token first, void *place)
{
    struct application *application = ((struct event_reader *)fields->context)->application;
    struct job_event *event = place;
    if (first != JSON_ARRAY_BEGIN)
        return json_reader_skip(fields->json, first, fields->error);
    for (;;) {
        enum json_token token = json_reader_next(fields->json, fields->error);
        if (token != JSON_OBJECT_BEGIN)
            return token == JSON_ARRAY_END;
        struct stage_info info = no_stage_info;
        if (!json_fields_read(fields, stage_info_fields, &info))
            return false;
        struct stage *stage = store_stage(application, &info);
        if (stage == NULL)
            return error_set_memory(fields->error);
        if (info.id >= event->last_stage) {
            event->last_stage = info.id;
            event->name = info.name;
        }
    }
}

static const struct json_field job_property_fields[] = {
    {FIELD_KEY("spark.sql.execution.id"), FIELD_INTEGER, AT(job_event, sql_execution)},
    {FIELD_KEY("spark.job.description"), FIELD_TEXT, AT(job_event, description)},
    {FIELD_KEY("spark.jobGroup.id"), FIELD_TEXT, AT(job_event, group)},
    {{NULL, 0}},
};

static const struct json_field exception_fields[] = {
    {FIELD_KEY("Message"), FIELD_TEXT, AT(job_event, exception)},
    {{NULL, 0}},
};

static const struct json_field job_result_fields[] = {
    {FIELD_KEY("Result"), FIELD_TEXT, AT(job_event, result)},
    {FIELD_KEY("Exception"), FIELD_OBJECT, 0, exception_fields},
    {{NULL, 0}},
};

static const struct json_field job_fields[] = {
    {FIELD_KEY("Job ID"), FIELD_INTEGER, AT(job_event, id)},
    {FIELD_KEY("Submission Time"), FIELD_INTEGER, AT(job_event, submitted_ms)},
    {FIELD_KEY("Completion Time"), FIELD_INTEGER, AT(job_event, completed_ms)},
    {FIELD_KEY("Stage IDs"), FIELD_OTHER, 0, NULL, read_stage_ids},
    {FIELD_KEY("Stage Infos"), FIELD_OTHER, 0, NULL, read_stage_infos},
    {FIELD_KEY("Properties"), FIELD_OBJECT, 0, job_property_fields},
    {FIELD_KEY("Job Result"), FIELD_OBJECT, 0, job_result_fields},
    {{NULL, 0}},
};

static bool read_job_event(struct event_reader *reader, struct job_event *event, struct job **job)
{
    *event = (struct job_event){
        .submitted_ms = NO_MS, .completed_ms = NO_MS, .sql_execution = -1, .last_stage = INT64_MIN};
    if (!read_object(reader, job_fields, event))
        return false;
    *job = application_job(reader->application, event->id);
    return *job != NULL || out_of_memory(reader);
}

static void claim_stages(struct application *application, const struct job *job)
{
    for (uint32_t i = 0; i < job->stage_count; i++) {
        uint64_t key = application_stage_key(application->job_stages[job->first_stage + i], 0);
        uint32_t number = id_map_get(&application->stage_numbers, key);
        if (number != NO_ID && application->stages[number].job < 0)
            application->stages[number].job = job->id;
    }
}

static bool read_job_start(struct event_reader *reader)
{
    struct job_event event;
    struct job *job;
    if (!read_job_event(reader, &event, &job))
        return false;
    job->submitted_ms = event.submitted_ms;
    job->sql_execution = event.sql_execution;
    job->description = event.description;
    job->group = event.group;
    job->name = event.name;
    job->first_stage = event.first_stage;
    job->stage_count = event.stage_count;
    claim_stages(reader->application, job);
    return true;
}

static bool read_job_end(struct event_reader *reader)
{
    struct job_event event;
    struct job *job;
    if (!read_job_event(reader, &event, &job))
        return false;
    job->completed_ms = event.completed_ms;
    bool good = text_equal(application_text(reader->application, event.result), TEXT("JobSucceeded"));
    job->status = good ? JOB_SUCCEEDED : JOB_FAILED;
    job->exception = event.exception;
    return true;
}

/* ---- stages ---- */

static bool read_stage(struct event_reader *reader, struct stage **stage)
{
    static const struct json_field fields[] = {
        {FIELD_KEY("Stage Info"), FIELD_OBJECT, 0, stage_info_fields},
        {{NULL, 0}},
    };
    struct stage_info info = no_stage_info;
    if (!read_object(reader, fields, &info))
        return false;
    *stage = store_stage(reader->application, &info);
    return *stage != NULL || out_of_memory(reader);
}

static bool read_stage_submitted(struct event_reader *reader)
{
    struct stage *stage;
    if (!read_stage(reader, &stage))
        return false;
    stage->status = STAGE_ACTIVE;
    return true;
}

static bool read_stage_completed(struct event_reader *reader)
{
    struct stage *stage;
    if (!read_stage(reader, &stage))
        return false;
    stage->status = stage->failure != 0 ? STAGE_FAILED : STAGE_COMPLETE;
    return true;
}

/* ---- tasks ---- */

static bool read_task(struct event_reader *reader, bool is_end)
{
    struct task_event event;
    struct task_counters counters = {.items = NULL};
    bool good = task_event_read(&event, is_end, &counters, &reader->fields) &&
                task_event_store(&event, reader->application, reader->fields.error);
    task_counters_release(&counters);
    return good;
}

static bool read_task_start(struct event_reader *reader)
{
    return read_task(reader, false);
}

static bool read_task_end(struct event_reader *reader)
{
    return read_task(reader, true);
}

/* ---- SQL ---- */

struct sql_event {
    int64_t id, time_ms;
    uint32_t description, details, plan, error;
    struct sql_files files;
    struct plan_range nodes;
};

static bool read_sql_event(struct event_reader *reader, struct sql_event *event, struct sql_execution **sql)
{
    static const struct json_field fields[] = {
        {FIELD_KEY("executionId"), FIELD_INTEGER, AT(sql_event, id)},
        {FIELD_KEY("time"), FIELD_INTEGER, AT(sql_event, time_ms)},
        {FIELD_KEY("description"), FIELD_TEXT, AT(sql_event, description)},
        {FIELD_KEY("details"), FIELD_TEXT, AT(sql_event, details)},
        {FIELD_KEY("physicalPlanDescription"), FIELD_TEXT, AT(sql_event, plan)},
        {FIELD_KEY("errorMessage"), FIELD_TEXT, AT(sql_event, error)},
        {FIELD_KEY("sparkPlanInfo"), FIELD_OTHER, AT(sql_event, nodes), NULL, event_log_read_plan},
        {FIELD_KEY("accumUpdates"), FIELD_OTHER, AT(sql_event, files), NULL, event_log_read_driver_counters},
        {{NULL, 0}},
    };
    *event = (struct sql_event){.time_ms = NO_MS};
    if (!read_object(reader, fields, event))
        return false;
    *sql = application_sql(reader->application, event->id);
    return *sql != NULL || out_of_memory(reader);
}

static void set_plan(struct sql_execution *sql, const struct sql_event *event)
{
    sql->plan = event->plan;
    sql->first_node = event->nodes.first;
    sql->node_count = event->nodes.count;
}

static bool read_sql_start(struct event_reader *reader)
{
    struct sql_event event;
    struct sql_execution *sql;
    if (!read_sql_event(reader, &event, &sql))
        return false;
    sql->description = event.description;
    sql->details = event.details;
    set_plan(sql, &event);
    sql->first_plan = plan_hash_nodes(&reader->application->plans, &reader->application->strings,
                                      event.nodes.first, event.nodes.count);
    sql->start_ms = event.time_ms;
    return true;
}

static bool read_sql_update(struct event_reader *reader)
{
    struct sql_event event;
    struct sql_execution *sql;
    if (!read_sql_event(reader, &event, &sql))
        return false;
    set_plan(sql, &event);
    sql->updates++;
    return true;
}

static bool close_counters(struct event_reader *reader, const struct sql_execution *sql)
{
    struct sql_plans *plans = &reader->application->plans;
    for (uint32_t i = sql->first_node; i < sql->first_node + sql->node_count; i++)
        for (uint32_t j = 0; j < plans->nodes[i].counter_count; j++)
            if (!sql_plans_close_tasks(plans, plans->counters[plans->nodes[i].first_counter + j].id))
                return out_of_memory(reader);
    return true;
}

static bool read_sql_end(struct event_reader *reader)
{
    struct sql_event event;
    struct sql_execution *sql;
    if (!read_sql_event(reader, &event, &sql))
        return false;
    sql->end_ms = event.time_ms;
    sql->error = event.error;
    return close_counters(reader, sql);
}

/* Counters of subqueries whose plans adaptive execution changed; their operators are not in any logged plan. */
static bool read_sql_counters(struct event_reader *reader)
{
    static const struct json_field fields[] = {
        {FIELD_KEY("executionId"), FIELD_INTEGER, AT(sql_event, id)},
        {FIELD_KEY("sqlPlanMetrics"), FIELD_OTHER, AT(sql_event, nodes), NULL, event_log_read_plan_counters},
        {{NULL, 0}},
    };
    struct sql_event event = {.time_ms = NO_MS};
    struct sql_plans *plans = &reader->application->plans;
    if (!read_object(reader, fields, &event))
        return false;
    for (uint32_t i = event.nodes.first; i < event.nodes.first + event.nodes.count; i++)
        if (!sql_plans_add_query_counter(plans, event.id, &plans->counters[i]))
            return out_of_memory(reader);
    return true;
}

static bool read_driver_counters(struct event_reader *reader)
{
    struct sql_event event;
    struct sql_execution *sql;
    if (!read_sql_event(reader, &event, &sql))
        return false;
    sql->files.read = (int64_t)((uint64_t)sql->files.read + (uint64_t)event.files.read);
    sql->files.read_bytes = (int64_t)((uint64_t)sql->files.read_bytes + (uint64_t)event.files.read_bytes);
    sql->files.written = (int64_t)((uint64_t)sql->files.written + (uint64_t)event.files.written);
    sql->files.written_bytes =
        (int64_t)((uint64_t)sql->files.written_bytes + (uint64_t)event.files.written_bytes);
    return true;
}

/* ---- which is which ---- */

static const struct {
    const char *name; /* without package */
    bool (*read)(struct event_reader *reader);
} events[] = {
    {"SparkListenerTaskStart", read_task_start},
    {"SparkListenerTaskEnd", read_task_end},
    {"SparkListenerStageSubmitted", read_stage_submitted},
    {"SparkListenerStageCompleted", read_stage_completed},
    {"SparkListenerJobStart", read_job_start},
    {"SparkListenerJobEnd", read_job_end},
    {"SparkListenerExecutorAdded", read_executor_added},
    {"SparkListenerExecutorRemoved", read_executor_removed},
    {"SparkListenerBlockManagerAdded", read_block_manager_added},
    {"SparkListenerApplicationStart", read_application_start},
    {"SparkListenerApplicationEnd", read_application_end},
    {"SparkListenerEnvironmentUpdate", read_environment},
    {"SparkListenerLogStart", read_log_start},
    {"SparkListenerSQLExecutionStart", read_sql_start},
    {"SparkListenerSQLAdaptiveExecutionUpdate", read_sql_update},
    {"SparkListenerSQLAdaptiveSQLMetricUpdates", read_sql_counters},
    {"SparkListenerSQLExecutionEnd", read_sql_end},
    {"SparkListenerStageExecutorMetrics", read_stage_executor_metrics},
    {"SparkListenerDriverAccumUpdates", read_driver_counters},
};

/* Logs rewritten by other software: "Event" may come later, with blanks anywhere. */
static struct text_view event_anywhere(struct text_view line)
{
    struct json_reader json;
    struct error ignored = {0};
    struct text_view name = {"", 0};
    json_reader_init_memory(&json, line, 0, TEXT_LIMIT_BYTES);
    bool is_open = json_reader_next(&json, &ignored) == JSON_OBJECT_BEGIN;
    while (is_open && name.size == 0 && json_reader_next(&json, &ignored) == JSON_KEY) {
        bool is_event = text_equal(json.text, TEXT("Event"));
        enum json_token token = json_reader_next(&json, &ignored);
        bool is_of_line =
            token == JSON_TEXT && json.text.data >= line.data && json.text.data < line.data + line.size;
        if (is_event && is_of_line)
            name = json.text;
        is_open = json_reader_skip(&json, token, &ignored);
    }
    json_reader_release(&json);
    return name;
}

/* The event's name, at the start of the line, so that irrelevant lines are skipped cheaply. */
static struct text_view event_name(struct text_view line)
{
    static const struct text_view start = {"{\"Event\":\"", 10};
    struct text_view name = {"", 0};
    if (text_starts_with(line, start)) {
        name = text_part(line, start.size, 200);
        size_t end = text_find_byte(name, '"');
        name = end == TEXT_NOT_FOUND ? TEXT("") : text_part(name, 0, end);
    } else if (text_starts_with(line, TEXT("{"))) {
        name = event_anywhere(line);
    }
    size_t dot = text_find_last_byte(name, '.');
    return dot == TEXT_NOT_FOUND ? name : text_from(name, dot + 1);
}

bool event_log_is_event(struct text_view line)
{
    return text_starts_with(event_name(line), TEXT("SparkListener"));
}

bool event_log_read_task(struct text_view line, struct json_reader *json, struct task_counters *counters,
                         struct task_event *event)
{
    struct error ignored = {0};
    struct text_view name = event_name(line);
    bool is_end = text_equal(name, TEXT("SparkListenerTaskEnd"));
    if (!is_end && !text_equal(name, TEXT("SparkListenerTaskStart")))
        return false;
    struct json_fields_reader fields = {.json = json, .error = &ignored};
    json_reader_reset_memory(json, line, 0);
    return json_reader_next(json, &ignored) == JSON_OBJECT_BEGIN &&
           task_event_read(event, is_end, counters, &fields) && !fields.needs_strings;
}

bool event_log_read_line(struct application *application, struct text_view line, struct error *error)
{
    struct text_view name = event_name(line);
    for (size_t i = 0; i < COUNT_OF(events); i++) {
        if (!text_equal(name, text_of(events[i].name)))
            continue;
        struct json_reader json;
        json_reader_init_memory(&json, line, 0, TEXT_LIMIT_BYTES);
        struct event_reader reader = {.application = application};
        reader.fields = (struct json_fields_reader){
            .json = &json,
            .strings = &application->strings,
            .error = error,
            .context = &reader,
            .redacted = application->shows_secrets ? NULL : &application->redacted,
        };
        bool good =
            json_reader_expect(&json, JSON_OBJECT_BEGIN, "an object", error) && events[i].read(&reader);
        json_reader_release(&json);
        return good;
    }
    return true;
}
