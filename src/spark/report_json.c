/*
 * report_json.c - the report for scripts. Times are milliseconds since 1970, absent ones null.
 */
#include "spark/json_out.h"
#include "spark/log_report.h"
#include "spark/report.h"
#include "spark/report_compare.h"
#include "spark/report_sql.h"

static void write_metrics(struct json_out *out, const struct task_metrics *metrics)
{
#define TASK_METRIC(field, key) json_out_number(out, #field, metrics->field);
#include "spark/task_metrics.def"
}

static void write_application(struct json_out *out, const struct application *application)
{
    json_out_key(out, "application");
    output_byte(out->output, '{');
    out->is_first = true;
    json_out_text(out, "id", application->id);
    json_out_text(out, "name", application->name);
    json_out_text(out, "attempt", application->attempt);
    json_out_text(out, "user", application->user);
    json_out_text(out, "spark_version", application->spark_version);
    json_out_text(out, "java_version", application->java_version);
    json_out_moment(out, "start_ms", application->start_ms);
    json_out_moment(out, "end_ms", application->end_ms);
    json_out_end(out);
}

static void write_properties(struct json_out *out, const struct application *application)
{
    json_out_list(out, "properties");
    for (size_t i = 0; i < application->property_count; i++) {
        json_out_begin(out, i);
        json_out_text(out, "key", application->properties[i].key);
        json_out_text(out, "value", application->properties[i].value);
        json_out_end(out);
    }
    json_out_end_list(out);
}

static void write_executors(struct json_out *out, const struct application *application)
{
    json_out_list(out, "executors");
    for (size_t i = 0; i < application->executor_count; i++) {
        const struct executor *executor = &application->executors[i];
        json_out_begin(out, i);
        json_out_text(out, "id", executor->id);
        json_out_text(out, "host", executor->host);
        json_out_number(out, "cores", executor->cores);
        json_out_number(out, "storage_bytes", executor->storage_bytes);
        json_out_moment(out, "added_ms", executor->added_ms);
        json_out_moment(out, "removed_ms", executor->removed_ms);
        json_out_text(out, "removed_reason", executor->removed_reason);
        json_out_end(out);
    }
    json_out_end_list(out);
}

static void write_jobs(struct json_out *out, const struct application *application)
{
    static const char *const statuses[] = {"running", "succeeded", "failed"};
    json_out_list(out, "jobs");
    for (size_t i = 0; i < application->job_count; i++) {
        const struct job *job = &application->jobs[i];
        json_out_begin(out, i);
        json_out_number(out, "id", job->id);
        json_out_plain(out, "status", statuses[job->status]);
        json_out_text(out, "name", job->name);
        json_out_text(out, "description", job->description);
        json_out_text(out, "group", job->group);
        json_out_key(out, "sql_execution");
        if (job->sql_execution < 0)
            output_c_string(out->output, "null");
        else
            output_i64(out->output, job->sql_execution);
        json_out_moment(out, "submitted_ms", job->submitted_ms);
        json_out_moment(out, "completed_ms", job->completed_ms);
        json_out_text(out, "exception", job->exception);
        json_out_number(out, "tasks", job->task_count);
        json_out_number(out, "succeeded", (int64_t)job->succeeded);
        json_out_number(out, "failed", (int64_t)job->failed);
        json_out_number(out, "killed", (int64_t)job->killed);
        json_out_number(out, "skipped", job->skipped);
        json_out_number(out, "active", (int64_t)job->active);
        json_out_key(out, "stages");
        for (uint32_t j = 0; j < job->stage_count; j++) {
            output_byte(out->output, j == 0 ? '[' : ',');
            output_i64(out->output, application->job_stages[job->first_stage + j]);
        }
        output_c_string(out->output, job->stage_count == 0 ? "[]" : "]");
        json_out_end(out);
    }
    json_out_end_list(out);
}

static void write_stages(struct json_out *out, const struct application *application,
                         const struct stage_statistics *statistics)
{
    static const char *const statuses[] = {"pending", "active", "complete", "failed", "skipped"};
    json_out_list(out, "stages");
    for (size_t i = 0; i < application->stage_count; i++) {
        const struct stage *stage = &application->stages[i];
        const struct stage_row *row = &statistics->rows[i];
        json_out_begin(out, i);
        json_out_number(out, "id", stage->id);
        json_out_number(out, "attempt", stage->attempt);
        json_out_number(out, "job", stage->job);
        json_out_plain(out, "status", statuses[stage->status]);
        json_out_text(out, "name", stage->name);
        json_out_number(out, "tasks", stage->task_count);
        json_out_number(out, "succeeded", stage->succeeded);
        json_out_number(out, "failed", stage->failed);
        json_out_number(out, "killed", stage->killed);
        json_out_number(out, "active", stage->active);
        json_out_moment(out, "submitted_ms", stage->submitted_ms);
        json_out_moment(out, "completed_ms", stage->completed_ms);
        json_out_text(out, "failure", stage->failure);
        json_out_number(out, "task_median_ms", row->median_ms);
        json_out_number(out, "task_p95_ms", row->p95_ms);
        json_out_number(out, "task_max_ms", row->most_ms);
        write_metrics(out, &stage->totals);
        json_out_end(out);
    }
    json_out_end_list(out);
}

static void write_tasks(struct json_out *out, const struct application *application)
{
    static const char *const statuses[] = {"running", "succeeded", "failed", "killed"};
    json_out_list(out, "tasks");
    for (size_t i = 0; i < application->task_count; i++) {
        const struct task *task = &application->tasks[i];
        json_out_begin(out, i);
        json_out_number(out, "id", task->id);
        json_out_number(out, "stage", application->stages[task->stage].id);
        json_out_number(out, "stage_attempt", application->stages[task->stage].attempt);
        json_out_number(out, "index", task->index);
        json_out_number(out, "attempt", task->attempt);
        json_out_number(out, "partition", task->partition);
        json_out_text(out, "executor", application_executor_id(application, task));
        json_out_plain(out, "status", statuses[task->status]);
        json_out_text(out, "locality", task->locality);
        json_out_flag(out, "speculative", task->speculative);
        json_out_moment(out, "launch_ms", task->launch_ms);
        json_out_moment(out, "finish_ms", task->finish_ms);
        if (task->reason != 0)
            json_out_text(out, "reason", task->reason);
        if (task->has_metrics)
            write_metrics(out, &task->metrics);
        json_out_end(out);
    }
    json_out_end_list(out);
}

static void write_advice(struct json_out *out, const struct advice *advice)
{
    json_out_list(out, "advice");
    for (size_t i = 0; i < advice->size; i++) {
        const struct advice_item *item = &advice->items[i];
        json_out_begin(out, i);
        json_out_plain(out, "rule", item->rule);
        if (item->stage >= 0) {
            json_out_number(out, "stage", item->stage);
            json_out_number(out, "attempt", item->attempt);
        }
        if (item->task >= 0)
            json_out_number(out, "task", item->task);
        if (item->place[0] != '\0')
            json_out_plain(out, "place", item->place);
        json_out_plain(out, "finding", item->finding);
        json_out_plain(out, "remedy", item->remedy);
        json_out_end(out);
    }
    json_out_end_list(out);
}

static void write_sections(const struct report *report, unsigned sections, struct json_out *out)
{
    const struct application *application = report->application;
    if (sections & REPORT_APPLICATION) {
        write_application(out, application);
        write_properties(out, application);
        write_executors(out, application);
        time_spent_write_json(&report->time_spent, out);
    }
    if (sections & REPORT_JOBS)
        write_jobs(out, application);
    if (sections & REPORT_STAGES)
        write_stages(out, application, &report->statistics);
    if (sections & REPORT_TASKS)
        write_tasks(out, application);
    if (sections & REPORT_SQL)
        report_sql_write_json(report, out);
    if (report->log != NULL)
        log_report_write_json(report->log, sections, out);
    if (sections & REPORT_METRICS && report->metrics != NULL) {
        json_out_key(out, "metrics");
        metrics_write_json(report->metrics, out->output);
    }
    if (sections & REPORT_METRICS && report->curves.size > 0) {
        json_out_key(out, "curves");
        metric_curves_write_json(&report->curves, out->output);
    }
    report_compare_write_json(report, out);
    if (sections & REPORT_METHODS && report->methods.size > 0) {
        json_out_key(out, "methods");
        stage_methods_write_json(&report->methods, out->output);
    }
    if (sections & REPORT_METHODS && report->operators.size > 0) {
        json_out_key(out, "operators");
        sql_operators_write_json(&report->operators, application, out->output);
    }
    if (sections & REPORT_ADVICE)
        write_advice(out, &report->advice);
}

void report_write_json(const struct report *report, unsigned sections, struct output *output)
{
    struct json_out out = {.output = output, .strings = &report->application->strings, .is_first = true};
    output_byte(output, '{');
    write_sections(report, sections, &out);
    output_c_string(output, "}\n");
}

/* A number of every task. */
#define COLUMN(name, expression)                               \
    do {                                                       \
        json_out_list(&out, name);                             \
        for (size_t i = 0; i < application->task_count; i++) { \
            const struct task *task = &application->tasks[i];  \
            output_c_string(output, i == 0 ? "" : ",");        \
            output_i64(output, expression);                    \
        }                                                      \
        json_out_end_list(&out);                               \
    } while (0)

void report_write_page_data(const struct report *report, struct output *output)
{
    const struct application *application = report->application;
    struct json_out out = {.output = output, .strings = &application->strings, .is_first = true};
    output_byte(output, '{');
    write_sections(report, REPORT_ALL & ~(unsigned)(REPORT_TASKS | REPORT_METRICS), &out);
    if (report->curves.size > 0) {
        json_out_key(&out, "curves");
        metric_curves_write_json(&report->curves, output);
    }
    json_out_key(&out, "tasks");
    output_byte(output, '{');
    out.is_first = true;
    COLUMN("id", task->id);
    COLUMN("stage", task->stage);
    COLUMN("executor", task->executor == NO_EXECUTOR ? -1 : (int64_t)task->executor);
    COLUMN("index", task->index);
    COLUMN("attempt", task->attempt);
    COLUMN("status", task->status);
    COLUMN("launch_ms", task->launch_ms == NO_MS ? -1 : task->launch_ms);
    COLUMN("duration_ms", task_duration_ms(task) == NO_MS ? -1 : task_duration_ms(task));
    COLUMN("run_ms", task->metrics.run_ms);
    COLUMN("cpu_ns", task->metrics.cpu_ns);
    COLUMN("gc_ms", task->metrics.gc_ms);
    COLUMN("wait_ms", task->metrics.shuffle_fetch_wait_ms);
    COLUMN("spilled_bytes", task->metrics.disk_spilled_bytes);
    COLUMN("input_bytes", task->metrics.input_bytes);
    COLUMN("shuffle_bytes", (int64_t)((uint64_t)task->metrics.shuffle_remote_bytes +
                                      (uint64_t)task->metrics.shuffle_local_bytes));
    output_c_string(output, "}}\n");
}
