/*
 * fuzz_spark_log.c - logs of Spark, and all that is worked out of them; the same bytes as metrics.
 */
#include <stdlib.h>

#include "formats/byte_source.h"
#include "spark/log_report.h"
#include "spark/metrics.h"
#include "spark/report.h"
#include "spark/spark_log.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_all(const struct spark_log *log)
{
    struct error error = {0};
    struct report report;
    struct text_builder text;
    struct output output;
    if (!report_init(&report, &log->application, log, &error))
        abort();
    text_builder_init(&text, (size_t)64 << 20);
    if (!output_open_memory(&output, &text, &error))
        abort();
    report_write_json(&report, REPORT_ALL, &output);
    report_write_text(&report, &output);
    log_report_write_summary(log, &output);
    log_report_write_errors(log, 10, &output);
    log_report_write_chunks(log, 10, &output);
    log_report_write_jobs(log, &output);
    log_report_write_stages(log, &output);
    log_report_write_tasks(log, &output);
    if (!output_finish(&output, &error))
        abort();
    text_builder_release(&text);
    report_release(&report);
}

static void read_log(struct text_view bytes)
{
    struct error error = {0};
    struct spark_log log;
    struct spark_log_options options = {.least_level = LOG_LEVEL_WARN};
    if (!spark_log_init(&log, &options, &error))
        abort();
    struct byte_source *source = byte_source_open_memory(bytes, "fuzz", &error);
    if (source != NULL) {
        (void)!spark_log_read_source(&log, source, &error);
        byte_source_close(source);
        if (!spark_log_finish(&log, &error))
            abort();
        write_all(&log);
    }
    spark_log_release(&log);
}

static void read_metrics(struct text_view bytes)
{
    struct error error = {0};
    struct metrics metrics;
    if (!metrics_init(&metrics, &error))
        abort();
    struct byte_source *source = byte_source_open_memory(bytes, "fuzz", &error);
    if (source != NULL) {
        (void)!metrics_read(&metrics, source, &error);
        byte_source_close(source);
        metrics_finish(&metrics);
    }
    metrics_release(&metrics);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct text_view bytes = {(const char *)data, size};
    read_log(bytes);
    read_metrics(bytes);
    return 0;
}
