/*
 * write_report.h - everything that is written of an application, into memory; for targets that read one.
 */
#ifndef FUZZ_WRITE_REPORT_H
#define FUZZ_WRITE_REPORT_H

#include <stdlib.h>

#include "spark/report/log_report.h"
#include "spark/report/report.h"
#include "spark/report/report_baseline.h"

#define REPORT_LIMIT_BYTES ((size_t)64 << 20)

/* The application is its own earlier run. */
static inline void compare_with_itself(const struct report_sources *sources, struct baseline *baseline)
{
    struct error error = {0};
    if (!baseline_init(baseline, sources->application, sources->profile, 0.1, &error) ||
        !baseline_add(baseline, sources->application, sources->profile, &error) ||
        !baseline_finish(baseline, &error))
        abort();
}

static inline void write_report(const struct report_sources *given, struct text_builder *text)
{
    struct error error = {0};
    struct report_sources all = *given, *sources = &all;
    struct report report;
    struct baseline baseline;
    struct output output;
    compare_with_itself(sources, &baseline);
    all.baseline = &baseline;
    if (!report_init(&report, sources, &error))
        abort();
    if (!output_open_memory(&output, text, &error))
        abort();
    report_write_json(&report, REPORT_ALL, &output);
    report_write_page_data(&report, &output);
    report_write_text(&report, &output);
    report_baseline_write_junit(&baseline, &output);
    if (sources->log != NULL) {
        log_report_write_summary(sources->log, &output);
        log_report_write_errors(sources->log, 10, &output);
        log_report_write_chunks(sources->log, 10, &output);
        log_report_write_jobs(sources->log, &output);
        log_report_write_stages(sources->log, &output);
        log_report_write_tasks(sources->log, &output);
    }
    if (!output_finish(&output, &error))
        abort();
    report_release(&report);
    baseline_release(&baseline);
}

#endif
