/*
 * fuzz_spark_log.c - logs of Spark, and all that is worked out of them; the same bytes as metrics.
 */
#include <stdlib.h>

#include "input/byte_source.h"
#include "spark/metrics/metrics.h"
#include "spark/log/spark_log.h"
#include "write_report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_log(struct text_view bytes, const struct spark_log_options *options,
                      struct text_builder *text)
{
    struct error error = {0};
    struct spark_log log;
    if (!spark_log_init(&log, options, &error))
        abort();
    struct byte_source *source = byte_source_open_memory(bytes, "fuzz", &error);
    if (source != NULL) {
        (void)!spark_log_read_source(&log, source, &error);
        byte_source_close(source);
        if (!spark_log_finish(&log, &error))
            abort();
        write_report(&(struct report_sources){.application = &log.application, .log = &log}, text);
    }
    spark_log_release(&log);
}

/* The result must not depend on the pieces or on the threads that take them. */
static void read_log(struct text_view bytes)
{
    struct text_builder whole, pieces;
    text_builder_init(&whole, REPORT_LIMIT_BYTES);
    text_builder_init(&pieces, REPORT_LIMIT_BYTES);
    write_log(bytes, &(struct spark_log_options){.least_level = LOG_LEVEL_WARN}, &whole);
    write_log(bytes, &(struct spark_log_options){.least_level = LOG_LEVEL_WARN, .piece_bytes = 1}, &pieces);
    if (!text_equal(text_builder_view(&whole), text_builder_view(&pieces)))
        abort();
    text_builder_release(&whole);
    text_builder_release(&pieces);
}

/* The first line as a pattern for the others. */
static void match_lines(struct text_view bytes)
{
    static char layout[1000];
    struct error error = {0};
    struct log_pattern pattern;
    struct log_head head;
    struct text_view first = text_cut(&bytes, '\n');
    size_t size = first.size < sizeof(layout) ? first.size : sizeof(layout) - 1;
    memcpy(layout, first.data, size);
    layout[size] = '\0';
    if (!log_pattern_parse(&pattern, layout, &error))
        return;
    while (bytes.size > 0)
        (void)log_pattern_match(&pattern, text_cut(&bytes, '\n'), &head);
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
    match_lines(bytes);
    read_metrics(bytes);
    return 0;
}
