/*
 * fuzz_event_log.c - event logs line by line, and the report made of them.
 */
#include <stdlib.h>

#include "formats/line_reader.h"
#include "spark/event_log.h"
#include "write_report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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
    write_report(&(struct report_sources){.application = &application});
    application_release(&application);
    return 0;
}
