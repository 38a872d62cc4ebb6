#include "spark/report/log_report.h"

#include <inttypes.h>

#include "base/json_text.h"
#include "base/utf8.h"
#include "input/line_reader.h"
#include "spark/report/plain_text.h"
#include "spark/report/report.h"

#define NAME_LETTERS 60
#define LINE_LETTERS 200
#define LINES_OF_AN_ERROR 12
#define LINES_OF_A_CHUNK 20

/* ---- JSON ---- */

static void write_logs(const struct spark_log *log, struct json_out *out)
{
    json_out_list(out, "logs");
    for (size_t i = 0; i < log->source_count; i++) {
        const struct log_source *source = &log->sources[i];
        json_out_begin(out, i);
        json_out_text(out, "path", source->path);
        json_out_text(out, "container", source->container);
        json_out_text(out, "host", source->host);
        json_out_text(out, "executor", source->executor);
        json_out_flag(out, "is_driver", source->is_driver);
        json_out_number(out, "records", (int64_t)source->records);
        json_out_end(out);
    }
    json_out_end_list(out);
}

static void write_error_member(struct json_out *out, const struct spark_log *log, const char *name,
                               uint32_t text)
{
    json_out_key(out, name);
    if (text == 0)
        output_c_string(out->output, "null");
    else
        json_text_write(out->output, string_table_text(&log->errors.texts, text));
}

static void write_errors(const struct spark_log *log, struct json_out *out)
{
    json_out_list(out, "errors");
    for (size_t i = 0; i < log->errors.size; i++) {
        const struct log_error *item = &log->errors.items[i];
        json_out_begin(out, i);
        json_out_plain(out, "level", log_level_name(item->level));
        write_error_member(out, log, "cause", item->cause);
        write_error_member(out, log, "logger", item->logger);
        write_error_member(out, log, "message", item->message);
        write_error_member(out, log, "more", item->more);
        json_out_number(out, "count", (int64_t)item->count);
        json_out_number(out, "log_count", item->source_count);
        json_out_moment(out, "first_ms", item->first_ms);
        json_out_moment(out, "last_ms", item->last_ms);
        json_out_text(out, "path", log->sources[item->source].path);
        json_out_text(out, "container", log->sources[item->source].container);
        json_out_number(out, "line", (int64_t)item->line);
        json_out_moment(out, "stage", item->stage < 0 ? NO_MS : item->stage);
        json_out_moment(out, "stage_attempt", item->stage < 0 ? NO_MS : item->stage_attempt);
        json_out_moment(out, "task", item->task < 0 ? NO_MS : item->task);
        json_out_end(out);
    }
    json_out_end_list(out);
}

static struct text_view chunk_line(const struct spark_log *log, const struct log_chunk *chunk, uint32_t line)
{
    return string_table_text(&log->chunks.texts, log->chunks.order[chunk->first_line + line]);
}

static void write_chunks(const struct spark_log *log, struct json_out *out)
{
    json_out_list(out, "chunks");
    for (size_t i = 0; i < log->chunks.chunk_count; i++) {
        const struct log_chunk *chunk = &log->chunks.chunks[i];
        json_out_begin(out, i);
        json_out_number(out, "count", (int64_t)chunk->count);
        json_out_key(out, "lines");
        for (uint32_t line = 0; line < chunk->line_count; line++) {
            output_byte(out->output, line == 0 ? '[' : ',');
            json_text_write(out->output, chunk_line(log, chunk, line));
        }
        output_byte(out->output, ']');
        json_out_end(out);
    }
    json_out_end_list(out);
}

void log_report_write_json(const struct spark_log *log, unsigned sections, struct json_out *out)
{
    if (sections & REPORT_LOGS)
        write_logs(log, out);
    if (sections & REPORT_ERRORS)
        write_errors(log, out);
    if (sections & REPORT_CHUNKS)
        write_chunks(log, out);
}

/* ---- text ---- */

static void write_text(struct output *output, struct text_view text, size_t letters)
{
    struct text_view front = utf8_prefix(text, letters);
    plain_write_safely(output, front);
    if (front.size < text.size)
        output_c_string(output, "…");
}

static void write_source_name(const struct spark_log *log, uint32_t number, struct output *output)
{
    const struct log_source *source = &log->sources[number];
    uint32_t name = source->container != 0 ? source->container : source->path;
    plain_write_safely(output, application_text(&log->application, name));
}

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

void log_report_write_summary(const struct spark_log *log, struct output *output)
{
    const struct application *application = &log->application;
    char took[32];
    size_t drivers = 0;
    for (size_t i = 0; i < log->source_count; i++)
        drivers += log->sources[i].is_driver;
    plain_write_safely(
        output, application_text(application, application->name == 0 ? application->id : application->name));
    output_c_string(output, application->name == 0 && application->id == 0 ? "Application" : "");
    output_c_string(output, "\n  from ");
    plain_write_when(output, application->start_ms);
    output_format(output, ", %s\n",
                  plain_duration(took, sizeof(took), span_ms(application->start_ms, application->end_ms)));
    output_format(output,
                  "  %zu log%s (%zu of a driver), %" PRIu64 " lines, %" PRIu64 " warnings, %" PRIu64
                  " errors\n",
                  log->source_count, plural(log->source_count), drivers, log->lines,
                  log->records_of_level[LOG_LEVEL_WARN],
                  log->records_of_level[LOG_LEVEL_ERROR] + log->records_of_level[LOG_LEVEL_FATAL]);
    output_format(output, "  %zu job%s, %zu stage%s, %zu task%s, %zu executor%s\n", application->job_count,
                  plural(application->job_count), application->stage_count, plural(application->stage_count),
                  application->task_count, plural(application->task_count), application->executor_count,
                  plural(application->executor_count));
}

static void write_more(struct text_view more, struct output *output)
{
    for (size_t i = 0; more.size > 0 && i < LINES_OF_AN_ERROR; i++) {
        output_c_string(output, "      ");
        write_text(output, line_cut(&more), LINE_LETTERS);
        output_byte(output, '\n');
    }
    size_t left = 0;
    for (; more.size > 0; left++)
        line_cut(&more);
    if (left > 0)
        output_format(output, "      … %zu more line%s\n", left, plural(left));
}

static void write_error(const struct spark_log *log, const struct log_error *item, struct output *output)
{
    const struct string_table *texts = &log->errors.texts;
    output_c_string(output, "\n  ");
    plain_write_when(output, item->last_ms);
    output_format(output, "  %s", log_level_name(item->level));
    if (item->stage >= 0)
        output_format(output, "  stage %" PRId64 ".%" PRId64 " task %" PRId64, item->stage,
                      item->stage_attempt, item->task);
    if (item->count > 1)
        output_format(output, "  %" PRIu64 " times in %u log%s", item->count, item->source_count,
                      plural(item->source_count));
    output_c_string(output, "\n    ");
    if (item->cause != 0 && item->cause != item->message) {
        output_c_string(output, "cause: ");
        write_text(output, string_table_text(texts, item->cause), LINE_LETTERS);
        output_c_string(output, "\n    ");
    }
    plain_write_safely(output, string_table_text(texts, item->logger));
    output_c_string(output, item->logger == 0 ? "" : ": ");
    write_text(output, string_table_text(texts, item->message), LINE_LETTERS);
    output_byte(output, '\n');
    write_more(string_table_text(texts, item->more), output);
    output_c_string(output, "    at ");
    write_source_name(log, item->source, output);
    output_format(output, ":%" PRIu64 "\n", item->line);
}

void log_report_write_errors(const struct spark_log *log, size_t most, struct output *output)
{
    output_format(output, "Errors and exceptions, deduplicated, newest first: %zu\n", log->errors.size);
    for (size_t i = 0; i < log->errors.size && i < most; i++)
        write_error(log, &log->errors.items[i], output);
    if (log->errors.size > most)
        output_format(output, "\n  … and %zu more (--top)\n", log->errors.size - most);
}

static void write_chunk(const struct spark_log *log, const struct log_chunk *chunk, struct output *output)
{
    uint64_t lines = chunk->count * chunk->line_count;
    output_format(output, "\n  %" PRIu64 " times %u line%s, %.1f %% of the log\n", chunk->count,
                  chunk->line_count, plural(chunk->line_count),
                  log->records == 0 ? 0 : 100.0 * (double)lines / (double)log->records);
    for (uint32_t line = 0; line < chunk->line_count && line < LINES_OF_A_CHUNK; line++) {
        output_c_string(output, "    ");
        write_text(output, chunk_line(log, chunk, line), LINE_LETTERS);
        output_byte(output, '\n');
    }
    if (chunk->line_count > LINES_OF_A_CHUNK)
        output_format(output, "    … %u more lines\n", chunk->line_count - LINES_OF_A_CHUNK);
}

void log_report_write_chunks(const struct spark_log *log, size_t most, struct output *output)
{
    output_format(output, "Most repeated lines, in chunks of lines that occur together: %zu\n",
                  log->chunks.chunk_count);
    for (size_t i = 0; i < log->chunks.chunk_count && i < most; i++)
        write_chunk(log, &log->chunks.chunks[i], output);
    if (log->chunks.lost_lines > 0)
        output_format(output, "\n  %" PRIu64 " lines are not counted: too many different ones\n",
                      log->chunks.lost_lines);
}

/* start, end and duration of something, as columns */
static void write_times(int64_t start_ms, int64_t end_ms, struct output *output)
{
    char took[32];
    plain_write_when(output, start_ms);
    output_c_string(output, "  ");
    plain_write_when(output, end_ms);
    output_format(output, "  %10s  ", plain_duration(took, sizeof(took), span_ms(start_ms, end_ms)));
}

void log_report_write_jobs(const struct spark_log *log, struct output *output)
{
    static const char *const statuses[] = {"running", "succeeded", "failed"};
    output_c_string(
        output,
        "  job  submitted                completed                      took  status     stages  name\n");
    for (size_t i = 0; i < log->application.job_count; i++) {
        const struct job *job = &log->application.jobs[i];
        output_format(output, "%5" PRId64 "  ", job->id);
        write_times(job->submitted_ms, job->completed_ms, output);
        output_format(output, "%-9s  %6u  ", statuses[job->status], job->stage_count);
        write_text(output, application_text(&log->application, job->name), NAME_LETTERS);
        output_byte(output, '\n');
    }
}

void log_report_write_stages(const struct spark_log *log, struct output *output)
{
    output_c_string(
        output,
        "  stage  job  submitted                completed                      took   tasks  failed  name\n");
    for (size_t i = 0; i < log->application.stage_count; i++) {
        const struct stage *stage = &log->application.stages[i];
        output_format(output, "%5" PRId64 ".%-2" PRId64 "%4" PRId64 "  ", stage->id, stage->attempt,
                      stage->job);
        write_times(stage->submitted_ms, stage->completed_ms, output);
        output_format(output, "%6" PRId64 "  %6u  ", stage->task_count, stage->failed);
        write_text(output, application_text(&log->application, stage->name), NAME_LETTERS);
        output_byte(output, '\n');
    }
}

void log_report_write_tasks(const struct spark_log *log, struct output *output)
{
    static const char *const statuses[] = {"running", "succeeded", "failed", "killed"};
    const struct application *application = &log->application;
    output_c_string(output, "   task  stage    index  launched                 finished                      "
                            " took  status     executor\n");
    for (size_t i = 0; i < application->task_count; i++) {
        const struct task *task = &application->tasks[i];
        const struct stage *stage = &application->stages[task->stage];
        output_format(output, "%7" PRId64 "  %4" PRId64 ".%-2" PRId64 " %4u.%-2u  ", task->id, stage->id,
                      stage->attempt, task->index, task->attempt);
        write_times(task->launch_ms, task->finish_ms, output);
        output_format(output, "%-9s  ", statuses[task->status]);
        plain_write_safely(output, application_text(application, application_executor_id(application, task)));
        output_byte(output, '\n');
    }
}
