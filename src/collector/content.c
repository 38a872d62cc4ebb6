#include "collector/content.h"

#include <stdio.h>
#include <string.h>

#include "collector/recorded_events.h"
#include "formats/reader.h"
#include "input/byte_source.h"
#include "spark/event_log/event_log.h"

bool content_lacks_memory(const struct error *error)
{
    struct error memory = {0};
    error_set_memory(&memory);
    /* Only the text tells. */
    return error->code == ERROR_MEMORY && strstr(error->message, memory.message) != NULL;
}

static enum content_finding reading_failure(const struct error *reading)
{
    if (reading->code != ERROR_MEMORY)
        return CONTENT_DAMAGED;
    return content_lacks_memory(reading) ? CONTENT_NO_MEMORY : CONTENT_TOO_LARGE;
}

void content_add_events(struct stored_recording *recording, struct text_view all)
{
    char events[RECORDED_EVENTS_BYTES + 1];
    char label[sizeof("events=") + RECORDED_EVENTS_BYTES];
    struct error error = {0};
    if (strncmp(recording->labels, "events=", 7) == 0 || strstr(recording->labels, "\nevents=") != NULL)
        return;
    recorded_events_find(recording->kind, all, events);
    int size = snprintf(label, sizeof(label), "events=%s", events);
    bool added = recording_add_label(recording, (struct text_view){label, (size_t)size}, &error);
    (void)added; /* none are known, or the labels are full */
}

enum content_finding content_recognize(struct text_view body, size_t limit_bytes,
                                       struct stored_recording *recording, struct error *error)
{
    struct text_view all;
    struct error reading = {0};
    struct byte_source *source = byte_source_open_memory(body, "the body", &reading);
    if (source == NULL || !byte_source_all(source, limit_bytes, &all, &reading)) {
        byte_source_close(source);
        error_set(error, reading.code, "the body: %s", reading.message);
        return reading_failure(&reading);
    }
    const struct reader *reader =
        all.size == 0 ? NULL : reader_recognize(text_part(all, 0, READER_HEAD_BYTES));
    enum content_finding finding = CONTENT_GOOD;
    if (reader != NULL) {
        snprintf(recording->kind, sizeof(recording->kind), "%s", reader->name);
        content_add_events(recording, all);
    } else if (event_log_recognizes(text_part(all, 0, READER_HEAD_BYTES))) {
        snprintf(recording->kind, sizeof(recording->kind), "%s", CONTENT_EVENT_LOG);
    } else if (all.size == 0) {
        finding = CONTENT_DAMAGED;
        error_set(error, ERROR_BAD_INPUT, "the body is empty");
    } else {
        finding = CONTENT_UNKNOWN;
        error_set(error, ERROR_BAD_INPUT, "the body is of no format that sparkflame reads");
    }
    byte_source_close(source);
    return finding;
}
