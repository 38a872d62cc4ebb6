/*
 * fuzz_event_log.c - event logs line by line, and the report made of them.
 */
#include <stdlib.h>

#include "input/line_reader.h"
#include "spark/event_log/event_log_events.h"
#include "write_report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error error = {0};
    struct application application;
    if (!application_init(&application, &error))
        abort();
    struct text_view text = {(const char *)data, size};
    struct json_reader json;
    struct task_counters counters = {.items = NULL};
    json_reader_init_memory(&json, TEXT(""), 0, (size_t)1 << 20);
    while (text.size > 0) {
        struct text_view line = line_cut(&text);
        struct task_event event;
        if (event_log_read_task(line, &json, &counters, &event))
            (void)!task_event_store(&event, &application, &error);
        else
            (void)!event_log_read_line(&application, line, &error);
    }
    json_reader_release(&json);
    task_counters_release(&counters);
    if (!application_finish(&application))
        abort();
    struct text_builder report;
    text_builder_init(&report, REPORT_LIMIT_BYTES);
    write_report(&(struct report_sources){.application = &application}, &report);
    text_builder_release(&report);
    application_release(&application);
    return 0;
}
