/*
 * fuzz_collector_pyroscope.c - gives libFuzzer's input to what reads the requests of Pyroscope's agents: as the name of
 * an application, as a body of several parts (the first line is the content type), and as a message.
 */
#include <stdlib.h>
#include <string.h>

#include "collector/http/multipart.h"
#include "collector/pyroscope.h"
#include "collector/sender_names.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What is stored must be readable again. */
static bool check(void *context, const struct stored_recording *recording, struct text_view profile)
{
    struct stored_recording copy = *recording;
    struct stored_recording again = {.number = 0};
    struct text_builder meta;
    struct error error = {0};
    (void)context;
    (void)profile;
    memcpy(copy.kind, "jfr", sizeof("jfr"));
    text_builder_init(&meta, RECORDING_META_BYTES);
    recording_write_meta(&copy, &meta);
    if (meta.failed || !recording_read_meta(&again, text_builder_view(&meta), &error) ||
        strcmp(again.labels, copy.labels) != 0 || !recording_same_key(&again, &copy))
        abort();
    text_builder_release(&meta);
    return true;
}

static void read_parts(struct text_view input)
{
    struct multipart multipart;
    struct multipart_part part;
    struct error error = {0};
    char type[256];
    size_t length = 0;
    struct text_view line = text_cut(&input, '\n');
    for (size_t i = 0; i < line.size && length + 1 < sizeof(type); i++)
        if (line.data[i] != '\0')
            type[length++] = line.data[i];
    type[length] = '\0';
    if (!multipart_init(&multipart, type, input, &error)) {
        if (error.message[0] == '\0')
            abort();
        return;
    }
    while (multipart_next(&multipart, &part, &error))
        if (part.content.data < input.data || part.content.data + part.content.size > input.data + input.size)
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct text_view input = {(const char *)data, size};
    struct stored_recording recording = {.number = 0};
    struct error error = {0};
    if (pyroscope_read_name(&recording, input, &error)) {
        sender_number(&recording, input, input);
        check(NULL, &recording, input);
    } else if (error.message[0] == '\0') {
        abort();
    }
    read_parts(input);
    error.message[0] = '\0';
    if (!pyroscope_each_profile(input, check, NULL, &error) && error.message[0] == '\0')
        abort();
    return 0;
}
