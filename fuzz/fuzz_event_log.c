/*
 * fuzz_event_log.c - event logs line by line, and the report made of them.
 */
#include <stdlib.h>

#include "formats/line_reader.h"
#include "spark/event_log.h"
#include "spark/report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_both(const struct application *application)
{
    struct error error = {0};
    struct report report;
    struct text_builder text;
    struct output output;
    if (!report_init(&report, application, NULL, &error))
        abort();
    text_builder_init(&text, (size_t)64 << 20);
    if (!output_open_memory(&output, &text, &error))
        abort();
    report_write_json(&report, REPORT_ALL, &output);
    report_write_text(&report, &output);
    if (!output_finish(&output, &error))
        abort();
    text_builder_release(&text);
    report_release(&report);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error error = {0};
    struct application application;
    if (!application_init(&application, &error))
        abort();
    struct text_view text = {(const char *)data, size};
    while (text.size > 0)
        (void)!event_log_read_line(&application, line_cut(&text), &error);
    application_finish(&application);
    write_both(&application);
    application_release(&application);
    return 0;
}
