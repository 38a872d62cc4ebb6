/*
 * fuzz_collector_body.c - gives libFuzzer's input to what looks at the parameters and the body of a recording that is
 * sent to the collector: the first line is a label, the rest the body.
 */
#include <stdlib.h>
#include <string.h>

#include "collector/content.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct text_view body = {(const char *)data, size};
    struct text_view label = text_cut(&body, '\n');
    struct stored_recording recording = {.application = "a", .executor = "1", .kind = "jfr"};
    struct stored_recording again = {.number = 0};
    struct text_builder meta;
    struct error error = {0};
    text_builder_init(&meta, RECORDING_META_BYTES);
    bool is_id = recording_set_id(recording.attempt, "attempt", label, &error);
    bool is_label = recording_add_label(&recording, label, &error);
    if (is_id || is_label) {
        recording_write_meta(&recording, &meta);
        if (!recording_read_meta(&again, text_builder_view(&meta), &error) ||
            strcmp(again.labels, recording.labels) != 0 || !recording_same_key(&again, &recording))
            abort();
    }
    text_builder_release(&meta);
    error.message[0] = '\0';
    if (content_recognize(body, 1 << 20, &recording, &error) != CONTENT_GOOD && error.message[0] == '\0')
        abort();
    return 0;
}
