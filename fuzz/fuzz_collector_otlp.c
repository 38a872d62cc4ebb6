/*
 * fuzz_collector_otlp.c - gives libFuzzer's input to what takes a request of OTLP apart. What is made of each resource
 * must refer to nothing that is missing, and its description must be readable again.
 */
#include <stdlib.h>
#include <string.h>

#include "collector/otlp_request.h"

#define PART_LIMIT_BYTES ((size_t)1 << 22)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_description(const struct otlp_request *request, size_t resource)
{
    struct stored_recording recording = {.kind = "otlp"}, again = {.number = 0};
    struct text_builder meta;
    struct error error = {0};
    if (!otlp_request_describe(request, resource, &recording, &error)) {
        if (error.message[0] == '\0')
            abort();
        return;
    }
    text_builder_init(&meta, RECORDING_META_BYTES);
    recording_write_meta(&recording, &meta);
    if (meta.failed || !recording_read_meta(&again, text_builder_view(&meta), &error) ||
        strcmp(again.labels, recording.labels) != 0 || !recording_same_key(&again, &recording))
        abort();
    text_builder_release(&meta);
}

static void check_part(struct text_view part)
{
    struct otlp_request request;
    struct error error = {0};
    if (!otlp_request_read(&request, part, &error) || request.count != 1 ||
        !otlp_request_check(&request, 0, &error))
        abort();
    otlp_request_release(&request);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct otlp_request request;
    struct error error = {0};
    if (otlp_request_read(&request, (struct text_view){(const char *)data, size}, &error)) {
        for (size_t i = 0; i < request.count && i < 16; i++) {
            struct text_builder part;
            text_builder_init(&part, PART_LIMIT_BYTES);
            check_description(&request, i);
            if (otlp_request_check(&request, i, &error) && otlp_request_extract(&request, i, &part, &error))
                check_part(text_builder_view(&part));
            text_builder_release(&part);
        }
    } else if (error.message[0] == '\0') {
        abort();
    }
    otlp_request_release(&request);
    return 0;
}
