/*
 * report_json.c - the report for scripts. Times are milliseconds since 1970, absent ones null.
 */
#include "base/json_text.h"
#include "spark/report.h"

struct json_out {
    struct output *output;
    const struct application *application;
    bool is_first;
};

static void key(struct json_out *out, const char *name)
{
    output_c_string(out->output, out->is_first ? "\"" : ",\"");
    output_c_string(out->output, name);
    output_c_string(out->output, "\":");
    out->is_first = false;
}

static void number(struct json_out *out, const char *name, int64_t value)
{
    key(out, name);
    output_i64(out->output, value);
}

static void moment(struct json_out *out, const char *name, int64_t value)
{
    key(out, name);
    if (value == NO_MS)
        output_c_string(out->output, "null");
    else
        output_i64(out->output, value);
}

static void plain(struct json_out *out, const char *name, const char *value)
{
    key(out, name);
    json_text_write(out->output, text_of(value));
}

static void text(struct json_out *out, const char *name, uint32_t string)
{
    key(out, name);
    if (string == 0)
        output_c_string(out->output, "null");
    else
        json_text_write(out->output, application_text(out->application, string));
}

static void flag(struct json_out *out, const char *name, bool value)
{
    key(out, name);
    output_c_string(out->output, value ? "true" : "false");
}

static void begin(struct json_out *out, size_t index)
{
    output_c_string(out->output, index == 0 ? "\n{" : ",\n{");
    out->is_first = true;
}

static void end(struct json_out *out)
{
    output_byte(out->output, '}');
}

static void list(struct json_out *out, const char *name)
{
    output_c_string(out->output, ",\n\"");
    output_c_string(out->output, name);
    output_c_string(out->output, "\":[");
}

static void end_list(struct json_out *out)
{
    output_byte(out->output, ']');
}

static void write_metrics(struct json_out *out, const struct task_metrics *metrics)
{
#define TASK_METRIC(field, group, key) number(out, #field, metrics->field);
#include "spark/task_metrics.def"
#undef TASK_METRIC
}

static void write_application(struct json_out *out)
{
    const struct application *application = out->application;
    output_c_string(out->output, "\"application\":{");
    out->is_first = true;
    text(out, "id", application->id);
    text(out, "name", application->name);
    text(out, "attempt", application->attempt);
    text(out, "user", application->user);
    text(out, "spark_version", application->spark_version);
    text(out, "java_version", application->java_version);
    moment(out, "start_ms", application->start_ms);
    moment(out, "end_ms", application->end_ms);
    end(out);
}

static void write_executors(struct json_out *out)
{
    list(out, "executors");
    for (size_t i = 0; i < out->application->executor_count; i++) {
        const struct executor *executor = &out->application->executors[i];
        begin(out, i);
        text(out, "id", executor->id);
        text(out, "host", executor->host);
        number(out, "cores", executor->cores);
        number(out, "storage_bytes", executor->storage_bytes);
        moment(out, "added_ms", executor->added_ms);
        moment(out, "removed_ms", executor->removed_ms);
        text(out, "removed_reason", executor->removed_reason);
        end(out);
    }
    end_list(out);
}

static void write_jobs(struct json_out *out)
{
    static const char *const statuses[] = {"running", "succeeded", "failed"};
    list(out, "jobs");
    for (size_t i = 0; i < out->application->job_count; i++) {
        const struct job *job = &out->application->jobs[i];
        begin(out, i);
        number(out, "id", job->id);
        plain(out, "status", statuses[job->status]);
        text(out, "name", job->name);
        text(out, "description", job->description);
        text(out, "group", job->group);
        key(out, "sql_execution");
        if (job->sql_execution < 0)
            output_c_string(out->output, "null");
        else
            output_i64(out->output, job->sql_execution);
        moment(out, "submitted_ms", job->submitted_ms);
        moment(out, "completed_ms", job->completed_ms);
        text(out, "exception", job->exception);
        key(out, "stages");
        for (uint32_t j = 0; j < job->stage_count; j++) {
            output_byte(out->output, j == 0 ? '[' : ',');
            output_i64(out->output, out->application->job_stages[job->first_stage + j]);
        }
        output_c_string(out->output, job->stage_count == 0 ? "[]" : "]");
        end(out);
    }
    end_list(out);
}

static void write_stages(struct json_out *out, const struct stage_statistics *statistics)
{
    static const char *const statuses[] = {"pending", "active", "complete", "failed", "skipped"};
    list(out, "stages");
    for (size_t i = 0; i < out->application->stage_count; i++) {
        const struct stage *stage = &out->application->stages[i];
        const struct stage_row *row = &statistics->rows[i];
        begin(out, i);
        number(out, "id", stage->id);
        number(out, "attempt", stage->attempt);
        number(out, "job", stage->job);
        plain(out, "status", statuses[stage->status]);
        text(out, "name", stage->name);
        number(out, "tasks", stage->task_count);
        number(out, "succeeded", stage->succeeded);
        number(out, "failed", stage->failed);
        number(out, "killed", stage->killed);
        number(out, "active", stage->active);
        moment(out, "submitted_ms", stage->submitted_ms);
        moment(out, "completed_ms", stage->completed_ms);
        text(out, "failure", stage->failure);
        number(out, "task_median_ms", row->median_ms);
        number(out, "task_p95_ms", row->p95_ms);
        number(out, "task_max_ms", row->most_ms);
        write_metrics(out, &stage->totals);
        end(out);
    }
    end_list(out);
}

static void write_tasks(struct json_out *out)
{
    static const char *const statuses[] = {"running", "succeeded", "failed", "killed"};
    const struct application *application = out->application;
    list(out, "tasks");
    for (size_t i = 0; i < application->task_count; i++) {
        const struct task *task = &application->tasks[i];
        begin(out, i);
        number(out, "id", task->id);
        number(out, "stage", application->stages[task->stage].id);
        number(out, "stage_attempt", application->stages[task->stage].attempt);
        number(out, "index", task->index);
        number(out, "attempt", task->attempt);
        number(out, "partition", task->partition);
        text(out, "executor", application->executors[task->executor].id);
        plain(out, "status", statuses[task->status]);
        text(out, "locality", task->locality);
        flag(out, "speculative", task->speculative);
        moment(out, "launch_ms", task->launch_ms);
        moment(out, "finish_ms", task->finish_ms);
        if (task->reason != 0)
            text(out, "reason", task->reason);
        if (task->has_metrics)
            write_metrics(out, &task->metrics);
        end(out);
    }
    end_list(out);
}

static void write_sqls(struct json_out *out)
{
    list(out, "sql");
    for (size_t i = 0; i < out->application->sql_count; i++) {
        const struct sql_execution *sql = &out->application->sqls[i];
        begin(out, i);
        number(out, "id", sql->id);
        text(out, "description", sql->description);
        moment(out, "start_ms", sql->start_ms);
        moment(out, "end_ms", sql->end_ms);
        text(out, "error", sql->error);
        text(out, "plan", sql->plan);
        end(out);
    }
    end_list(out);
}

static void write_advice(struct json_out *out, const struct advice *advice)
{
    list(out, "advice");
    for (size_t i = 0; i < advice->size; i++) {
        const struct advice_item *item = &advice->items[i];
        begin(out, i);
        plain(out, "rule", item->rule);
        if (item->stage >= 0) {
            number(out, "stage", item->stage);
            number(out, "attempt", item->attempt);
        }
        plain(out, "finding", item->finding);
        plain(out, "remedy", item->remedy);
        end(out);
    }
    end_list(out);
}

void report_write_json(const struct report *report, struct output *output)
{
    struct json_out out = {.output = output, .application = report->application};
    output_byte(output, '{');
    write_application(&out);
    write_executors(&out);
    write_jobs(&out);
    write_stages(&out, &report->statistics);
    write_tasks(&out);
    write_sqls(&out);
    write_advice(&out, &report->advice);
    output_c_string(output, "}\n");
}
