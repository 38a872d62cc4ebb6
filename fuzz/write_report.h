/*
 * write_report.h - everything that is written of an application, into memory; for targets that read one.
 */
#ifndef FUZZ_WRITE_REPORT_H
#define FUZZ_WRITE_REPORT_H

#include <stdlib.h>

#include "spark/log_report.h"
#include "spark/report.h"

#define REPORT_LIMIT_BYTES ((size_t)64 << 20)

static inline void write_report(const struct report_sources *sources, struct text_builder *text)
{
    struct error error = {0};
    struct report report;
    struct output output;
    if (!report_init(&report, sources, &error))
        abort();
    if (!output_open_memory(&output, text, &error))
        abort();
    report_write_json(&report, REPORT_ALL, &output);
    report_write_page_data(&report, &output);
    report_write_text(&report, &output);
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
}

#endif
