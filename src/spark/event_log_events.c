/*
 * event_log_events.c - what each event of an event log means. One line is one JSON object; its key "Event" comes first.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "spark/event_log.h"
#include "spark/event_log_details.h"
#include "spark/json_fields.h"

#define TEXT_LIMIT_BYTES ((size_t)256 << 20)
#define NO_INTEGER INT64_MIN

#define AT(type, field) offsetof(struct type, field)

/* ---- pieces that several events have ---- */

struct stage_info {
    int64_t id, attempt, task_count, submitted_ms, completed_ms;
    uint32_t name, details, failure;
    bool uses_python;
    int64_t python_bytes;
};

static const struct json_field stage_info_fields[] = {
    {"Stage ID", FIELD_INTEGER, AT(stage_info, id)},
    {"Stage Attempt ID", FIELD_INTEGER, AT(stage_info, attempt)},
    {"Stage Name", FIELD_TEXT, AT(stage_info, name)},
    {"Number of Tasks", FIELD_INTEGER, AT(stage_info, task_count)},
    {"Details", FIELD_TEXT, AT(stage_info, details)},
    {"Submission Time", FIELD_INTEGER, AT(stage_info, submitted_ms)},
    {"Completion Time", FIELD_INTEGER, AT(stage_info, completed_ms)},
    {"Failure Reason", FIELD_TEXT, AT(stage_info, failure)},
    {"RDD Info", FIELD_OTHER, AT(stage_info, uses_python), NULL, event_log_read_data_sets},
    {"Accumulables", FIELD_OTHER, AT(stage_info, python_bytes), NULL, event_log_read_counters},
    {NULL},
};

static const struct stage_info no_stage_info = {.submitted_ms = NO_MS, .completed_ms = NO_MS};

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
    stage->uses_python = stage->uses_python || info->uses_python;
    stage->python_bytes = info->python_bytes;
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
        {"Spark Version", FIELD_TEXT, AT(application, spark_version)},
        {NULL},
    };
    return read_object(reader, fields, reader->application);
}

static bool read_application_start(struct event_reader *reader)
{
    static const struct json_field fields[] = {
        {"App Name", FIELD_TEXT, AT(application, name)},          {"App ID", FIELD_TEXT, AT(application, id)},
        {"Timestamp", FIELD_INTEGER, AT(application, start_ms)},  {"User", FIELD_TEXT, AT(application, user)},
        {"App Attempt ID", FIELD_TEXT, AT(application, attempt)}, {NULL},
    };
    return read_object(reader, fields, reader->application);
}

static bool read_application_end(struct event_reader *reader)
{
    static const struct json_field fields[] = {
        {"Timestamp", FIELD_INTEGER, AT(application, end_ms)},
        {NULL},
    };
    return read_object(reader, fields, reader->application);
}

static bool read_environment(struct event_reader *reader)
{
    static const struct json_field jvm_fields[] = {
        {"Java Version", FIELD_TEXT, AT(application, java_version)},
        {NULL},
    };
    static const struct json_field fields[] = {
        {"JVM Information", FIELD_OBJECT, 0, jvm_fields},
        {"Spark Properties", FIELD_OTHER, 0, NULL, event_log_read_properties},
        {NULL},
    };
    return read_object(reader, fields, reader->application);
}

struct executor_event {
    uint32_t id, host, reason;
    int64_t time_ms, cores, memory_bytes;
};

static const struct json_field executor_info_fields[] = {
    {"Host", FIELD_TEXT, AT(executor_event, host)},
    {"Total Cores", FIELD_INTEGER, AT(executor_event, cores)},
    {NULL},
};

static const struct json_field block_manager_fields[] = {
    {"Executor ID", FIELD_TEXT, AT(executor_event, id)},
    {"Host", FIELD_TEXT, AT(executor_event, host)},
    {NULL},
};

static const struct json_field executor_fields[] = {
    {"Timestamp", FIELD_INTEGER, AT(executor_event, time_ms)},
    {"Executor ID", FIELD_TEXT, AT(executor_event, id)},
    {"Executor Info", FIELD_OBJECT, 0, executor_info_fields},
    {"Removed Reason", FIELD_TEXT, AT(executor_event, reason)},
    {"Block Manager ID", FIELD_OBJECT, 0, block_manager_fields},
    {"Maximum Memory", FIELD_INTEGER, AT(executor_event, memory_bytes)},
    {NULL},
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

/* The driver is told of only by its block manager. */
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
        {"Executor ID", FIELD_TEXT, AT(peaks_event, id)},
        {"Executor Metrics", FIELD_OTHER, AT(peaks_event, peaks), NULL, event_log_read_peaks},
        {NULL},
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
    {"spark.sql.execution.id", FIELD_INTEGER, AT(job_event, sql_execution)},
    {"spark.job.description", FIELD_TEXT, AT(job_event, description)},
    {"spark.jobGroup.id", FIELD_TEXT, AT(job_event, group)},
    {NULL},
};

static const struct json_field exception_fields[] = {
    {"Message", FIELD_TEXT, AT(job_event, exception)},
    {NULL},
};

static const struct json_field job_result_fields[] = {
    {"Result", FIELD_TEXT, AT(job_event, result)},
    {"Exception", FIELD_OBJECT, 0, exception_fields},
    {NULL},
};

static const struct json_field job_fields[] = {
    {"Job ID", FIELD_INTEGER, AT(job_event, id)},
    {"Submission Time", FIELD_INTEGER, AT(job_event, submitted_ms)},
    {"Completion Time", FIELD_INTEGER, AT(job_event, completed_ms)},
    {"Stage IDs", FIELD_OTHER, 0, NULL, read_stage_ids},
    {"Stage Infos", FIELD_OTHER, 0, NULL, read_stage_infos},
    {"Properties", FIELD_OBJECT, 0, job_property_fields},
    {"Job Result", FIELD_OBJECT, 0, job_result_fields},
    {NULL},
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
        {"Stage Info", FIELD_OBJECT, 0, stage_info_fields},
        {NULL},
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

struct task_event {
    int64_t stage, stage_attempt;
    int64_t id, index, attempt, partition, launch_ms, finish_ms, getting_result_ms;
    uint32_t executor, host, locality;
    bool speculative, failed, killed, has_metrics;
    uint32_t reason, class_name, description, stack_trace, loss_reason, kill_reason;
    struct task_metrics metrics;
    struct executor_peaks peaks;
};

static const struct json_field task_info_fields[] = {
    {"Task ID", FIELD_INTEGER, AT(task_event, id)},
    {"Index", FIELD_INTEGER, AT(task_event, index)},
    {"Attempt", FIELD_INTEGER, AT(task_event, attempt)},
    {"Partition ID", FIELD_INTEGER, AT(task_event, partition)},
    {"Launch Time", FIELD_INTEGER, AT(task_event, launch_ms)},
    {"Finish Time", FIELD_INTEGER, AT(task_event, finish_ms)},
    {"Getting Result Time", FIELD_INTEGER, AT(task_event, getting_result_ms)},
    {"Executor ID", FIELD_TEXT, AT(task_event, executor)},
    {"Host", FIELD_TEXT, AT(task_event, host)},
    {"Locality", FIELD_TEXT, AT(task_event, locality)},
    {"Speculative", FIELD_BOOL, AT(task_event, speculative)},
    {"Failed", FIELD_BOOL, AT(task_event, failed)},
    {"Killed", FIELD_BOOL, AT(task_event, killed)},
    {NULL},
};

static const struct json_field end_reason_fields[] = {
    {"Reason", FIELD_TEXT, AT(task_event, reason)},
    {"Class Name", FIELD_TEXT, AT(task_event, class_name)},
    {"Description", FIELD_TEXT, AT(task_event, description)},
    {"Message", FIELD_TEXT, AT(task_event, description)},
    {"Full Stack Trace", FIELD_TEXT, AT(task_event, stack_trace)},
    {"Loss Reason", FIELD_TEXT, AT(task_event, loss_reason)},
    {"Kill Reason", FIELD_TEXT, AT(task_event, kill_reason)},
    {NULL},
};

static const struct metric_place {
    const char *group;
    const char *key;
    size_t offset;
} metric_places[] = {
#define TASK_METRIC(field, group, key) {group, key, AT(task_metrics, field)},
#include "spark/task_metrics.def"
#undef TASK_METRIC
};

static const struct metric_place *find_metric(const char *group, struct text_view key)
{
    char first = key.size > 0 ? key.data[0] : '\0';
    for (size_t i = 0; i < COUNT_OF(metric_places); i++)
        if (metric_places[i].key[0] == first && text_equal(key, text_of(metric_places[i].key)) &&
            strcmp(metric_places[i].group, group) == 0)
            return &metric_places[i];
    return NULL;
}

/* Name of the group as the table has it; NULL when nothing of it is wanted. */
static const char *find_group(struct text_view key)
{
    for (size_t i = 0; i < COUNT_OF(metric_places); i++)
        if (text_equal(key, text_of(metric_places[i].group)))
            return metric_places[i].group;
    return NULL;
}

static bool read_metric_group(struct json_fields_reader *fields, const char *group,
                              struct task_metrics *metrics)
{
    struct json_reader *json = fields->json;
    for (;;) {
        enum json_token token = json_reader_next(json, fields->error);
        if (token != JSON_KEY)
            return token == JSON_OBJECT_END;
        const struct metric_place *place = find_metric(group, json->text);
        const char *inner = group[0] == '\0' && place == NULL ? find_group(json->text) : NULL;
        token = json_reader_next(json, fields->error);
        if (token == JSON_OBJECT_BEGIN && inner != NULL) {
            if (!read_metric_group(fields, inner, metrics))
                return false;
        } else if (token == JSON_NUMBER && place != NULL) {
            *(int64_t *)((char *)metrics + place->offset) = json->integer;
        } else if (token == JSON_FAILED || !json_reader_skip(json, token, fields->error)) {
            return false;
        }
    }
}

static bool read_metrics(struct json_fields_reader *fields, enum json_token first, void *place)
{
    struct task_event *event = place;
    if (first != JSON_OBJECT_BEGIN)
        return json_reader_skip(fields->json, first, fields->error);
    event->has_metrics = true;
    return read_metric_group(fields, "", &event->metrics);
}

static const struct json_field task_fields[] = {
    {"Stage ID", FIELD_INTEGER, AT(task_event, stage)},
    {"Stage Attempt ID", FIELD_INTEGER, AT(task_event, stage_attempt)},
    {"Task Info", FIELD_OBJECT, 0, task_info_fields},
    {"Task End Reason", FIELD_OBJECT, 0, end_reason_fields},
    {"Task Metrics", FIELD_OTHER, 0, NULL, read_metrics},
    {"Task Executor Metrics", FIELD_OTHER, AT(task_event, peaks), NULL, event_log_read_peaks},
    {NULL},
};

static bool store_task(struct event_reader *reader, const struct task_event *event, struct task **task,
                       struct stage **stage)
{
    struct application *application = reader->application;
    struct executor *executor = application_executor(application, event->executor);
    *stage = application_stage(application, event->stage, event->stage_attempt);
    *task = application_task(application, event->id);
    if (executor == NULL || *stage == NULL || *task == NULL)
        return out_of_memory(reader);
    if (executor->host == 0)
        executor->host = event->host;
    executor_peaks_raise(&executor->peaks, &event->peaks);
    (*task)->stage = (uint32_t)(*stage - application->stages);
    (*task)->executor = (uint32_t)(executor - application->executors);
    (*task)->index = (uint32_t)event->index;
    (*task)->attempt = (uint32_t)event->attempt;
    (*task)->partition = (int32_t)event->partition;
    (*task)->launch_ms = event->launch_ms;
    (*task)->locality = event->locality;
    (*task)->speculative = event->speculative;
    return true;
}

static const struct task_event no_task_event = {.partition = -1, .launch_ms = NO_MS};

static bool read_task_start(struct event_reader *reader)
{
    struct task_event event = no_task_event;
    struct task *task;
    struct stage *stage;
    if (!read_object(reader, task_fields, &event) || !store_task(reader, &event, &task, &stage))
        return false;
    stage->active++;
    return true;
}

static enum task_status end_status(const struct application *application, const struct task_event *event)
{
    struct text_view reason = application_text(application, event->reason);
    if (text_equal(reason, TEXT("Success")))
        return TASK_SUCCEEDED;
    return text_equal(reason, TEXT("TaskKilled")) ? TASK_KILLED : TASK_FAILED;
}

static void count_end(struct stage *stage, enum task_status status)
{
    stage->active -= stage->active > 0;
    stage->succeeded += status == TASK_SUCCEEDED;
    stage->failed += status == TASK_FAILED;
    stage->killed += status == TASK_KILLED;
}

/* "java.io.IOException: No space left", "ExecutorLostFailure: …" */
static bool describe_failure(struct event_reader *reader, const struct task_event *event, uint32_t *reason)
{
    const struct application *application = reader->application;
    uint32_t detail = event->description != 0   ? event->description
                      : event->loss_reason != 0 ? event->loss_reason
                                                : event->kill_reason;
    uint32_t what = event->class_name != 0 ? event->class_name : event->reason;
    struct text_builder text;
    text_builder_init(&text, TEXT_LIMIT_BYTES);
    text_builder_add(&text, application_text(application, what));
    if (detail != 0) {
        text_builder_add(&text, TEXT(": "));
        text_builder_add(&text, application_text(application, detail));
    }
    *reason =
        text.failed ? NO_STRING : string_table_add(&reader->application->strings, text_builder_view(&text));
    text_builder_release(&text);
    return *reason != NO_STRING || out_of_memory(reader);
}

static bool read_task_end(struct event_reader *reader)
{
    struct task_event event = no_task_event;
    struct task *task;
    struct stage *stage;
    if (!read_object(reader, task_fields, &event) || !store_task(reader, &event, &task, &stage))
        return false;
    task->status = (uint8_t)end_status(reader->application, &event);
    task->finish_ms = event.finish_ms == 0 ? NO_MS : event.finish_ms;
    task->getting_result_ms = event.getting_result_ms;
    task->has_metrics = event.has_metrics;
    task->metrics = event.metrics;
    task->stack_trace = event.stack_trace;
    count_end(stage, task->status);
    task_metrics_add(&stage->totals, &event.metrics);
    return task->status == TASK_SUCCEEDED || describe_failure(reader, &event, &task->reason);
}

/* ---- SQL ---- */

struct sql_event {
    int64_t id, time_ms;
    uint32_t description, plan, error;
    struct sql_files files;
};

static bool read_sql_event(struct event_reader *reader, struct sql_event *event, struct sql_execution **sql)
{
    static const struct json_field fields[] = {
        {"executionId", FIELD_INTEGER, AT(sql_event, id)},
        {"time", FIELD_INTEGER, AT(sql_event, time_ms)},
        {"description", FIELD_TEXT, AT(sql_event, description)},
        {"physicalPlanDescription", FIELD_TEXT, AT(sql_event, plan)},
        {"errorMessage", FIELD_TEXT, AT(sql_event, error)},
        {"sparkPlanInfo", FIELD_OTHER, 0, NULL, event_log_read_plan},
        {"accumUpdates", FIELD_OTHER, AT(sql_event, files), NULL, event_log_read_driver_counters},
        {NULL},
    };
    *event = (struct sql_event){.time_ms = NO_MS};
    if (!read_object(reader, fields, event))
        return false;
    *sql = application_sql(reader->application, event->id);
    return *sql != NULL || out_of_memory(reader);
}

static bool read_sql_start(struct event_reader *reader)
{
    struct sql_event event;
    struct sql_execution *sql;
    if (!read_sql_event(reader, &event, &sql))
        return false;
    sql->description = event.description;
    sql->plan = event.plan;
    sql->start_ms = event.time_ms;
    return true;
}

static bool read_sql_update(struct event_reader *reader)
{
    struct sql_event event;
    struct sql_execution *sql;
    if (!read_sql_event(reader, &event, &sql))
        return false;
    sql->plan = event.plan;
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
    {"SparkListenerSQLExecutionEnd", read_sql_end},
    {"SparkListenerStageExecutorMetrics", read_stage_executor_metrics},
    {"SparkListenerDriverAccumUpdates", read_driver_counters},
};

/* The event's name, from the line's begin, so that lines that do not matter cost nothing. */
static struct text_view event_name(struct text_view line)
{
    static const struct text_view start = {"{\"Event\":\"", 10};
    if (!text_starts_with(line, start))
        return TEXT("");
    struct text_view rest = text_from(line, start.size);
    size_t end = text_find_byte(text_part(rest, 0, 200), '"');
    struct text_view name = end == TEXT_NOT_FOUND ? TEXT("") : text_part(rest, 0, end);
    size_t dot = text_find_last_byte(name, '.');
    return dot == TEXT_NOT_FOUND ? name : text_from(name, dot + 1);
}

bool event_log_recognizes(struct text_view head)
{
    return text_starts_with(event_name(head), TEXT("SparkListener"));
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
        reader.fields =
            (struct json_fields_reader){&json, &application->strings, error, &reader,
                                        application->shows_secrets ? NULL : &application->redacted};
        bool good =
            json_reader_expect(&json, JSON_OBJECT_BEGIN, "an object", error) && events[i].read(&reader);
        json_reader_release(&json);
        return good;
    }
    return true;
}
