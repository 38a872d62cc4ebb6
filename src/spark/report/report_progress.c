#include "spark/report/report_progress.h"

#include <inttypes.h>

#include "spark/report/plain_text.h"

bool report_progress_is_running(const struct application *application)
{
    return application->start_ms != NO_MS && application->end_ms == NO_MS;
}

static int64_t later(int64_t left, int64_t right)
{
    return left > right ? left : right; /* NO_MS is the least */
}

static int64_t last_event(const struct application *application)
{
    int64_t last = application->start_ms;
    for (size_t i = 0; i < application->task_count; i++)
        last = later(last, later(application->tasks[i].launch_ms, application->tasks[i].finish_ms));
    for (size_t i = 0; i < application->stage_count; i++)
        last = later(last, later(application->stages[i].submitted_ms, application->stages[i].completed_ms));
    for (size_t i = 0; i < application->job_count; i++)
        last = later(last, later(application->jobs[i].submitted_ms, application->jobs[i].completed_ms));
    return last;
}

static void write_tasks(struct output *output, uint64_t done, int64_t whole)
{
    output_format(output, ": %" PRIu64 " of %" PRId64 " tasks", done, whole);
    if (whole > 0)
        output_format(output, " (%.0f %%)", 100.0 * (double)done / (double)whole);
}

static void write_stage(const struct stage *stage, int64_t now, struct output *output)
{
    char text[32];
    int64_t left = stage->task_count - stage->succeeded, took = span_ms(stage->submitted_ms, now);
    output_format(output, "  stage %" PRId64 ".%" PRId64, stage->id, stage->attempt);
    write_tasks(output, stage->succeeded, stage->task_count);
    output_format(output, ", %u running", stage->active);
    if (stage->succeeded > 0 && left > 0 && took != NO_MS)
        output_format(output, ", about %s left at this pace",
                      plain_duration(text, sizeof(text),
                                     (int64_t)((double)took * (double)left / (double)stage->succeeded)));
    output_byte(output, '\n');
}

void report_progress_write_text(const struct application *application, struct output *output)
{
    if (!report_progress_is_running(application))
        return;
    int64_t now = last_event(application);
    output_c_string(output, "\nNot ended; last event ");
    plain_write_when(output, now);
    output_byte(output, '\n');
    for (size_t i = 0; i < application->job_count; i++) {
        const struct job *job = &application->jobs[i];
        if (job->status != JOB_RUNNING)
            continue;
        output_format(output, "  job %" PRId64, job->id);
        write_tasks(output, job->succeeded, job->task_count - job->skipped);
        output_byte(output, '\n');
    }
    for (size_t i = 0; i < application->stage_count; i++)
        if (application->stages[i].status == STAGE_ACTIVE)
            write_stage(&application->stages[i], now, output);
}
