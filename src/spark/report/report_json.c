/*
 * report_json.c - the report for scripts. Times are milliseconds since 1970, absent ones null.
 */
#include "spark/report/json_out.h"
#include "spark/report/log_report.h"
#include "spark/report/report.h"
#include "spark/report/report_baseline.h"
#include "spark/report/report_compare.h"
#include "spark/report/report_sql.h"
#include "spark/report/report_what_if.h"
#include "spark/report/task_columns.h"

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
        json_out_text(out, "title", job->title);
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
        json_out_text(out, "title", stage->title);
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

static void write_advice(struct json_out *out, const struct report *report)
{
    const struct advice *advice = &report->advice;
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
        if (item->sql >= 0)
            json_out_number(out, "sql", item->sql);
        json_out_number(out, "saved_wall_ms", item->saved_wall_ms);
        json_out_number(out, "saved_core_ms", item->saved_core_ms);
        if (report->cost.is_known) {
            json_out_key(out, "saved_cost");
            output_format(out->output, "%.6f", cost_of(&report->cost, (double)item->saved_core_ms));
        }
        json_out_plain(out, "how", item->how);
        json_out_plain(out, "certainty", advice_certainty_name(item->certainty));
        json_out_key(out, "severity");
        output_format(out->output, "%.3f", item->severity);
        json_out_number(out, "group", item->group);
        json_out_key(out, "docs");
        output_format(out->output, "\"docs/ADVICE.md#%s\"", item->rule);
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
        report_what_if_write_json(&report->what_if, out);
        cost_write_json(&report->cost, application, &report->time_spent, out);
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
    report_baseline_write_json(report->baseline, out);
    if (sections & REPORT_METHODS && report->methods.size > 0) {
        json_out_key(out, "methods");
        stage_methods_write_json(&report->methods, out->output);
    }
    if (sections & REPORT_METHODS && report->operators.size > 0) {
        json_out_key(out, "operators");
        sql_operators_write_json(&report->operators, application, out->output);
    }
    if (sections & REPORT_ADVICE)
        write_advice(out, report);
}

void report_write_json(const struct report *report, unsigned sections, struct output *output)
{
    struct json_out out = {.output = output, .strings = &report->application->strings, .is_first = true};
    output_byte(output, '{');
    write_sections(report, sections, &out);
    output_c_string(output, "}\n");
}

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
    if (report->refresh_seconds > 0)
        json_out_number(&out, "refresh_seconds", (int64_t)report->refresh_seconds);
    task_columns_write_json(application, &out);
    output_c_string(output, "}\n");
    output_byte(output, '\0');
    task_columns_write(application, output);
}
