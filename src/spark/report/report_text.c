/*
 * report_text.c - the report for people at a terminal.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/id_map.h"
#include "base/utf8.h"
#include "spark/report/log_report.h"
#include "spark/report/plain_text.h"
#include "spark/report/report.h"
#include "spark/report/report_baseline.h"
#include "spark/report/report_compare.h"
#include "spark/report/report_progress.h"
#include "spark/report/report_sql.h"
#include "spark/report/report_what_if.h"

#define NAME_LETTERS 48
#define LOG_ITEMS 5
#define SIMILAR_ITEMS 10
#define FIRST_MIN_SECONDS 1
#define METHOD_ITEMS 5
#define METHOD_LETTERS 120
#define METHOD_LEAST_SHARE 0.01 /* of all stages' samples; the JSON form has the others too */

/* "1 job", "2 jobs". */
static void write_number_of(struct output *output, size_t count, const char *what, const char *behind)
{
    output_format(output, "%zu %s%s%s", count, what, count == 1 ? "" : "s", behind);
}

static void write_head(const struct report *report, struct output *output)
{
    const struct application *application = report->application;
    char text[32];
    plain_write_safely(output, application_text(application, application->name));
    output_c_string(output, " (");
    plain_write_safely(output, application_text(application, application->id));
    output_c_string(output, ")\n  started ");
    plain_write_when(output, application->start_ms);
    if (span_ms(application->start_ms, application->end_ms) != NO_MS)
        output_format(
            output, ", took %s",
            plain_duration(text, sizeof(text), span_ms(application->start_ms, application->end_ms)));
    else
        output_c_string(output, ", no end in the log");
    output_c_string(output, "\n  Spark ");
    plain_write_safely(output, application_text(application, application->spark_version));
    output_c_string(output, ", Java ");
    plain_write_safely(output, application_text(application, application->java_version));
    output_c_string(output, "\n  ");
    write_number_of(output, application->executor_count, "executor", ", ");
    write_number_of(output, application->job_count, "job", ", ");
    write_number_of(output, application->stage_count, "stage", ", ");
    write_number_of(output, application->task_count, "task", "\n");
}

static double share(int64_t part, int64_t whole)
{
    return whole <= 0 ? 0 : 100.0 * (double)part / (double)whole;
}

static void write_stage(const struct report *report, size_t index, struct output *output)
{
    const struct stage *stage = &report->application->stages[index];
    const struct stage_row *row = &report->statistics.rows[index];
    const struct task_metrics *totals = &stage->totals;
    char took[32], median[32], most[32], read[32], written[32], spilled[32];
    int64_t wall = span_ms(stage->submitted_ms, stage->completed_ms);
    int64_t shuffle_read =
        (int64_t)((uint64_t)totals->shuffle_remote_bytes + (uint64_t)totals->shuffle_local_bytes);
    output_format(output,
                  "%5" PRId64 ".%-2" PRId64 "%10s %6" PRId64 " %9s %9s %5.1f %5.0f %5.0f %10s %10s %10s  ",
                  stage->id, stage->attempt, plain_duration(took, sizeof(took), wall), stage->task_count,
                  plain_duration(median, sizeof(median), row->count == 0 ? NO_MS : row->median_ms),
                  plain_duration(most, sizeof(most), row->count == 0 ? NO_MS : row->most_ms),
                  stage_row_skew(row), share(totals->cpu_ns / 1000000, totals->run_ms),
                  share(totals->gc_ms, totals->run_ms), plain_bytes(read, sizeof(read), shuffle_read),
                  plain_bytes(written, sizeof(written), totals->shuffle_write_bytes),
                  plain_bytes(spilled, sizeof(spilled), totals->disk_spilled_bytes));
    plain_write_safely(output,
                       utf8_prefix(application_text(report->application, stage->title), NAME_LETTERS));
    if (stage->status == STAGE_FAILED)
        output_c_string(output, " FAILED");
    output_byte(output, '\n');
}

static void write_stages(const struct report *report, struct output *output)
{
    size_t skipped = 0;
    output_c_string(
        output, "\nStages\n  stage       took  tasks    median   slowest  skew  CPU%   GC%    shuffled    "
                "written    spilled  name\n");
    for (size_t i = 0; i < report->application->stage_count; i++) {
        enum stage_status status = report->application->stages[i].status;
        if (status == STAGE_SKIPPED || status == STAGE_PENDING)
            skipped++;
        else
            write_stage(report, i, output);
    }
    if (skipped > 0)
        output_format(output, "  and %zu skipped\n", skipped);
}

static void write_methods_of(const struct report *report, const struct stage_methods_item *item,
                             struct output *output)
{
    const struct profile *profile = report->methods.profile;
    output_format(output, "  stage %" PRId64 ".%" PRId64 ", %.0f samples\n", item->stage, item->attempt,
                  item->samples);
    for (size_t i = 0; i < item->row_count && i < METHOD_ITEMS; i++) {
        output_format(output, "    %5.1f %% self %5.1f %% total  ", 100 * item->rows[i].self / item->samples,
                      100 * item->rows[i].total / item->samples);
        plain_write_safely(output, utf8_prefix(profile_text(profile, item->rows[i].name), METHOD_LETTERS));
        output_byte(output, '\n');
    }
}

static void write_methods(const struct report *report, struct output *output)
{
    const struct stage_methods *methods = &report->methods;
    if (methods->size == 0)
        return;
    output_c_string(output, "\nTop methods by stage (");
    plain_write_safely(output, profile_text(methods->profile, methods->profile->events[methods->event].name));
    output_c_string(output, ")\n");
    double all = 0;
    for (size_t i = 0; i < methods->size; i++)
        all += methods->items[i].samples;
    for (size_t i = 0; i < methods->size; i++)
        if (methods->items[i].samples >= all * METHOD_LEAST_SHARE)
            write_methods_of(report, &methods->items[i], output);
}

/* The line with the error: the first, of a Python traceback the last. */
static struct text_view main_line(struct text_view reason)
{
    size_t end = text_find_byte(reason, '\n');
    struct text_view first = end == TEXT_NOT_FOUND ? reason : text_part(reason, 0, end);
    if (!text_ends_with(first, TEXT("Traceback (most recent call last):")))
        return first;
    struct text_view rest = text_trim(reason);
    size_t last = text_find_last_byte(rest, '\n');
    return last == TEXT_NOT_FOUND ? first : text_from(rest, last + 1);
}

/* Failures with the same reason are one line. */
static void write_failures(const struct report *report, struct output *output)
{
    const struct application *application = report->application;
    struct id_map counts;
    id_map_init(&counts);
    bool any = false;
    for (size_t i = 0; i < application->task_count; i++) {
        uint32_t *place =
            application->tasks[i].reason == 0 ? NULL : id_map_place(&counts, application->tasks[i].reason);
        if (place != NULL)
            *place = *place == NO_ID ? 1 : *place + 1;
    }
    for (size_t i = 0; i < application->task_count; i++) {
        const struct task *task = &application->tasks[i];
        uint32_t *place = task->reason == 0 ? NULL : id_map_place(&counts, task->reason);
        if (place == NULL || *place == 0 || *place == NO_ID)
            continue;
        output_c_string(output, any ? "" : "\nTasks that failed or were killed\n");
        any = true;
        output_format(output, "  %u time%s, first task %" PRId64 " in stage %" PRId64 ": ", *place,
                      *place == 1 ? "" : "s", task->id, application->stages[task->stage].id);
        plain_write_safely(output, utf8_prefix(main_line(application_text(application, task->reason)), 160));
        output_byte(output, '\n');
        *place = 0;
    }
    id_map_release(&counts);
}

static void write_saving(const struct report *report, const struct advice_item *item, struct output *output)
{
    char wall[32], cores[32];
    if (item->saved_wall_ms > 0)
        output_format(output, "saves %s, %s of core time",
                      plain_duration(wall, sizeof(wall), item->saved_wall_ms),
                      plain_duration(cores, sizeof(cores), item->saved_core_ms));
    else if (item->saved_core_ms > 0)
        output_format(output, "saves %s of core time",
                      plain_duration(cores, sizeof(cores), item->saved_core_ms));
    else
        output_c_string(output, "saves no time of this run");
    if (report->cost.is_known && item->saved_core_ms > 0)
        output_format(output, ", %.2f in money", cost_of(&report->cost, (double)item->saved_core_ms));
    output_format(output, " (%s; certainty: %s)", item->how, advice_certainty_name(item->certainty));
}

/* The others of a group, after the first. */
static void write_similar(const struct report *report, size_t first, struct output *output)
{
    size_t count = 0;
    for (size_t i = first + 1; i < report->advice.size; i++) {
        const struct advice_item *item = &report->advice.items[i];
        if (item->group != first)
            continue;
        if (++count > SIMILAR_ITEMS)
            continue;
        output_c_string(output, count == 1 ? "      the same: " : ", ");
        if (item->stage >= 0)
            output_format(output, "stage %" PRId64 ".%" PRId64, item->stage, item->attempt);
        else
            plain_write_safely(output, text_of(item->place));
    }
    if (count > SIMILAR_ITEMS)
        output_format(output, " and %zu more", count - SIMILAR_ITEMS);
    output_c_string(output, count > 0 ? "\n" : "");
}

static void write_advice(const struct report *report, struct output *output)
{
    if (report->advice.size > 0)
        output_c_string(output, "\nAdvice, most important first\n");
    for (size_t i = 0; i < report->advice.size; i++) {
        const struct advice_item *item = &report->advice.items[i];
        if (item->group != i)
            continue;
        output_format(output, "  [%s] ", item->rule);
        if (item->stage >= 0)
            output_format(output, "stage %" PRId64 ".%" PRId64 ": ", item->stage, item->attempt);
        plain_write_safely(output, text_of(item->finding));
        output_format(output, "\n      %s\n      ", item->remedy);
        write_saving(report, item, output);
        output_byte(output, '\n');
        write_similar(report, i, output);
    }
}

static void write_first(const struct report *report, struct output *output)
{
    const struct advice_item *item = report->advice.items;
    if (report->advice.size == 0 || item->severity < FIRST_MIN_SECONDS) {
        output_c_string(output,
                        "  Do this first: nothing; no rule found anything that would save a second\n");
        return;
    }
    output_format(output, "  Do this first: [%s] ", item->rule);
    if (item->stage >= 0)
        output_format(output, "stage %" PRId64 ".%" PRId64 ": ", item->stage, item->attempt);
    plain_write_safely(output, text_of(item->finding));
    output_format(output, "\n      %s; ", item->remedy);
    write_saving(report, item, output);
    output_byte(output, '\n');
}

void report_write_text(const struct report *report, struct output *output)
{
    write_head(report, output);
    report_progress_write_text(report->application, output);
    write_first(report, output);
    report_baseline_write_text(report->baseline, output);
    time_spent_write_text(&report->time_spent, output);
    cost_write_text(&report->cost, &report->time_spent, output);
    report_what_if_write_text(&report->what_if, output);
    write_stages(report, output);
    write_methods(report, output);
    report_sql_write_text(report, output);
    report_compare_write_text(report, output);
    write_failures(report, output);
    if (report->log != NULL) {
        output_byte(output, '\n');
        log_report_write_errors(report->log, LOG_ITEMS, output);
        output_byte(output, '\n');
        log_report_write_chunks(report->log, LOG_ITEMS, output);
    }
    write_advice(report, output);
}
